/** Functions that stop the things that this test file has started, in the order of the starts. */
const stops = new Map<object, () => unknown>();

/** Calls `stop` after the last test of the file, or in `stopAll`, unless `forgetStop` is called before. */
export function stopAtEnd<Started extends object>(started: Started, stop: () => unknown): Started {
  stops.set(started, stop);
  return started;
}

/** Undoes `stopAtEnd` for something that is being stopped. Returns false if it was stopped before. */
export function forgetStop(started: object): boolean {
  return stops.delete(started);
}

/** Stops everything, the latest start first: it may use an earlier one. Throws the first error at the end. */
export async function stopAll(): Promise<void> {
  const errors: unknown[] = [];
  for (const [started, stop] of [...stops].reverse()) {
    if (!stops.has(started)) continue; // a later one has stopped it
    try {
      await stop();
    } catch (error) {
      errors.push(error);
    }
    stops.delete(started);
  }
  if (errors.length > 0) throw errors[0];
}
