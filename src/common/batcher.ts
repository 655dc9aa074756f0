interface Waiting<Item, Result> {
  item: Item;
  resolve: (result: Result | Promise<Result>) => void;
  reject: (error: Error) => void;
}

/** Milliseconds after which another batch may begin beside the running ones, if `concurrency` allows it. */
const NEXT_BATCH_AFTER_MS = 10;

interface Options {
  /** Largest number of batches that run concurrently; 1 by default. */
  concurrency?: number;
  /** Smallest number of milliseconds between the starts of two batches, unless `enough` items wait. */
  everyMs?: number;
  /** Number of waiting items at which a batch begins before `everyMs` have passed. */
  enough?: number;
}

/**
 * Batches concurrent calls: while one batch runs, items collect for the next batch. So a busy process handles
 * many items by one call of `work`, such as one SQL statement, and an idle process handles an item at once.
 * If several batches may run, a batch that hangs delays only its own items.
 */
export class Batcher<Item, Result> {
  private waiting: Waiting<Item, Result>[] = [];
  private working = 0;
  private nextBatch: NodeJS.Timeout | undefined;
  private readonly concurrency: number;
  private readonly everyMs: number;
  private readonly enough: number;
  /** Time of `performance.now()` at which the last batch began. */
  private begunAt = -Infinity;
  private readonly pausing = new Set<() => void>();

  /**
   * @param work processes up to `max` items and returns the results in the order of the items. A result may
   *   be a promise, for which the next batch does not wait.
   */
  constructor(
    private readonly max: number,
    private readonly work: (items: Item[]) => Promise<(Result | Promise<Result>)[]>,
    { concurrency = 1, everyMs = 0, enough = 1 }: Options = {},
  ) {
    this.concurrency = concurrency;
    this.everyMs = everyMs;
    this.enough = enough;
  }

  get isIdle(): boolean {
    return this.working === 0 && this.waiting.length === 0;
  }

  /** Adds an item to the next batch and resolves to its result. Rejects if `work` rejects for the batch. */
  submit(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ item, resolve, reject });
      if (this.waiting.length >= this.enough) for (const begin of this.pausing) begin();
      if (this.working === 0) void this.drain();
      else if (this.working < this.concurrency) this.planNextBatch();
    });
  }

  private planNextBatch(): void {
    this.nextBatch ??= setTimeout(() => {
      this.nextBatch = undefined;
      if (this.waiting.length > 0) void this.drain();
    }, NEXT_BATCH_AFTER_MS);
  }

  private async drain(): Promise<void> {
    this.working += 1;
    // Items that are submitted in this tick of the event loop join the first batch.
    await new Promise(setImmediate);
    while (this.waiting.length > 0) {
      await this.pause();
      // Another batch may have taken the items.
      if (this.waiting.length === 0) break;
      const batch = this.waiting.splice(0, this.max);
      try {
        const results = await this.work(batch.map(({ item }) => item));
        for (const [n, { resolve }] of batch.entries()) resolve(results[n]!);
      } catch (error) {
        for (const { reject } of batch) reject(error as Error);
      }
    }
    this.working -= 1;
  }

  private async pause(): Promise<void> {
    const leftMs = this.begunAt + this.everyMs - performance.now();
    if (leftMs > 0 && this.waiting.length < this.enough)
      await new Promise<void>((resolve) => {
        const begin = () => {
          clearTimeout(timer);
          this.pausing.delete(begin);
          resolve();
        };
        const timer = setTimeout(begin, leftMs);
        this.pausing.add(begin);
      });
    this.begunAt = performance.now();
  }
}
