/**
 * Returns the first id after `id` in `ids` that is also in `left`. If there is none, returns the nearest one
 * before `id`.
 */
export function nearestTo(id: string, ids: string[], left: string[]): string | undefined {
  const at = ids.indexOf(id);
  const isLeft = new Set(left);
  return [...ids.slice(at + 1), ...ids.slice(0, at).toReversed()].find((one) => isLeft.has(one));
}
