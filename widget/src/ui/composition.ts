/**
 * Reports whether a key belongs to an input method, as Enter does that chooses a word. Safari tells so by the
 * key code alone.
 */
export function isOfComposition({ isComposing, keyCode }: KeyboardEvent): boolean {
  return isComposing || keyCode === 229;
}
