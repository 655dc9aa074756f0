/** Returns an item of a list, counted from the end if the index is negative. Throws if there is none. */
export function itemAt<T>(items: readonly T[], index: number): T {
  const item = items.at(index);
  if (item === undefined) throw new RangeError(`There is no item ${index} of ${items.length}.`);
  return item;
}

/** Returns the n-th item of a list that repeats without end. */
export function itemInTurn<T>(items: readonly T[], n: number): T {
  return itemAt(items, n % items.length);
}
