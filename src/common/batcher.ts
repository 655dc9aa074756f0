interface Waiting<Item, Result> {
  item: Item;
  resolve: (result: Result | Promise<Result>) => void;
  reject: (error: Error) => void;
}

/** Time for which items wait for the batches under way before another batch takes them. */
const NEXT_BATCH_AFTER_MS = 10;

interface Options {
  /** Number of batches that run at the same time, at most. */
  concurrency?: number;
  /** Time in milliseconds from the start of a batch to that of the next one, unless `enough` items wait. */
  everyMs?: number;
  /** Number of items for which a batch starts at once. */
  enough?: number;
}

/**
 * Batches concurrent calls: while one batch runs, the next one collects items. So a busy process does many
 * items with one statement, and a quiet process does each item at once. If several batches may run, one that
 * hangs holds up only its own items.
 */
export class Batcher<Item, Result> {
  private waiting: Waiting<Item, Result>[] = [];
  private working = 0;
  private nextBatch: NodeJS.Timeout | undefined;
  private readonly concurrency: number;
  private readonly everyMs: number;
  private readonly enough: number;
  /** Time at which a batch last began, by `performance.now()`. */
  private begunAt = -Infinity;
  /** Functions that begin the batches that wait for more items. */
  private readonly pausing = new Set<() => void>();

  /**
   * Makes a batcher.
   * @param work takes up to `max` items and returns a result for each, in their order; a promise of a result
   *   that the next batch need not wait for
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

  /** True when no item waits, and no batch runs. */
  get isIdle(): boolean {
    return this.working === 0 && this.waiting.length === 0;
  }

  /**
   * Adds an item to the next batch, and resolves to its result. If `work` rejects, so do all items of its
   * batch.
   */
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
    // The items of this tick of the event loop join the first batch.
    await new Promise(setImmediate);
    while (this.waiting.length > 0) {
      await this.pause();
      // Another batch may have taken them.
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

  /** Waits until the next batch may begin. */
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
