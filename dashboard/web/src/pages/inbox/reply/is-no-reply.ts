/** Reports whether a text is blank, or a word behind a slash, which only looks for a saved reply. */
export function isNoReply(text: string): boolean {
  return /^(?:\/\S*)?$/.test(text.trim());
}
