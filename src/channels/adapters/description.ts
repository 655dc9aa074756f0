/** The body of a message that has no text, such as `[image] Our new shop`. */
export function described(kind: string, detail: string | null): string {
  return detail === null ? `[${kind}]` : `[${kind}] ${detail}`;
}
