/** Multiple of a read's time for which the reader then rests, so that a busy server is asked less. */
const REST_FACTOR = 4;
const LONGEST_REST_MS = 5_000;

/**
 * Makes a function that reads a change at once, but not while it reads or rests. Changes that come meanwhile
 * are read after that, all together.
 * @param restMs shortest rest after a read
 */
export function makePacedReader<Change>(
  restMs: number,
  read: (changes: Change[]) => Promise<unknown>,
): (change: Change) => void {
  const changes = new Set<Change>();
  let isBusy = false;
  const readAll = async () => {
    isBusy = true;
    while (changes.size > 0) {
      const these = [...changes];
      changes.clear();
      const begin = performance.now();
      await read(these).catch((error: unknown) => console.error(error));
      const took = performance.now() - begin;
      await new Promise((resolve) => {
        setTimeout(resolve, Math.min(LONGEST_REST_MS, Math.max(restMs, took * REST_FACTOR)));
      });
    }
    isBusy = false;
  };
  return (change) => {
    changes.add(change);
    if (!isBusy) void readAll();
  };
}
