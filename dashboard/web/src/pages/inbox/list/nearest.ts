/** Returns the first id after `id` in `ids` that is also in `left`, or else the nearest one before it. */
export function nearestTo(id: string, ids: string[], left: string[]): string | undefined {
  const at = ids.indexOf(id);
  const isLeft = new Set(left);
  return [...ids.slice(at + 1), ...ids.slice(0, at).toReversed()].find((one) => isLeft.has(one));
}
