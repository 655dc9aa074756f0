interface Waiting<Item, Result> {
  item: Item;
  resolve: (result: Result | Promise<Result>) => void;
  reject: (error: Error) => void;
}

/** Time for which items wait for the batches under way before the next lane takes them. */
const NEXT_LANE_AFTER_MS = 10;

/**
 * Batches concurrent calls: while one batch runs, the next one collects items. So a busy process does many
 * items with one statement, and a quiet process does each item at once. With several lanes, a batch that
 * hangs holds up only its own items.
 */
export class Batcher<Item, Result> {
  private waiting: Waiting<Item, Result>[] = [];
  private working = 0;
  private nextLane: NodeJS.Timeout | undefined;

  /**
   * Makes a batcher.
   * @param work takes up to `max` items and returns a result for each, in their order; a promise of a result
   *   that the next batch need not wait for
   * @param lanes number of batches that run at the same time, at most
   */
  constructor(
    private readonly max: number,
    private readonly work: (items: Item[]) => Promise<(Result | Promise<Result>)[]>,
    private readonly lanes = 1,
  ) {}

  /**
   * Adds an item to the next batch, and resolves to its result. If `work` rejects, so do all items of its
   * batch.
   */
  submit(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ item, resolve, reject });
      if (this.working === 0) void this.drain();
      else if (this.working < this.lanes) this.planNextLane();
    });
  }

  private planNextLane(): void {
    this.nextLane ??= setTimeout(() => {
      this.nextLane = undefined;
      if (this.waiting.length > 0) void this.drain();
    }, NEXT_LANE_AFTER_MS);
  }

  private async drain(): Promise<void> {
    this.working += 1;
    // The items of this turn of the event loop join the first batch.
    await new Promise(setImmediate);
    while (this.waiting.length > 0) {
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
}
