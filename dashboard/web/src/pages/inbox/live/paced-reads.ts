/** A pause lasts this many times as long as the read before it, so that a busy server gets fewer requests. */
const REST_FACTOR = 4;
const LONGEST_REST_MS = 5_000;

/**
 * Returns a function that reads a change at once, or after the running read and the pause that follows it.
 * Changes that arrive meanwhile are read together.
 * @param restMs shortest pause after a read, in milliseconds
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
