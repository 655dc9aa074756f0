/**
 * Works through items, in several lanes side by side: what belongs together goes one after another, in the order it
 * came.
 * @param laneOf what an item shares with those that it must keep in order with
 * @param width how many are worked on at once
 */
export async function workInLanes<T>(
  items: T[],
  laneOf: (item: T) => string,
  width: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const lanes = new Map<string, T[]>();
  for (const item of items) {
    const lane = lanes.get(laneOf(item));
    if (lane) lane.push(item);
    else lanes.set(laneOf(item), [item]);
  }
  // All workers take from the same iterator, so each lane is one worker's.
  const untouched = lanes.values();
  const worker = async () => {
    for (const lane of untouched) for (const item of lane) await work(item);
  };
  await Promise.all(Array.from({ length: width }, worker));
}
