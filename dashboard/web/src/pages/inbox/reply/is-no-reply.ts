/** Reports whether a text is blank, or only a slash and a word, which searches for a saved reply. */
export function isNoReply(text: string): boolean {
  return /^(?:\/\S*)?$/.test(text.trim());
}
