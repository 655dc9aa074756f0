/** A plain description of a message that is no text, such as `[image] Our new shop`. */
export function described(kind: string, detail: string | null): string {
  return detail === null ? `[${kind}]` : `[${kind}] ${detail}`;
}
