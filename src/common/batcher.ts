interface Waiting<Item, Result> {
  item: Item;
  resolve: (result: Result | Promise<Result>) => void;
  reject: (error: Error) => void;
}

/**
 * Batches concurrent calls: while one batch runs, the next one collects items. So a busy process does many
 * items with one statement, and a quiet process does each item at once.
 */
export class Batcher<Item, Result> {
  private waiting: Waiting<Item, Result>[] = [];
  private working = false;

  /**
   * Makes a batcher.
   * @param work takes up to `max` items and returns a result for each, in their order; a promise of a result
   *   that the next batch need not wait for
   */
  constructor(
    private readonly max: number,
    private readonly work: (items: Item[]) => Promise<(Result | Promise<Result>)[]>,
  ) {}

  /**
   * Adds an item to the next batch, and resolves to its result. If `work` rejects, so do all items of its
   * batch.
   */
  submit(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ item, resolve, reject });
      if (!this.working) void this.drain();
    });
  }

  private async drain(): Promise<void> {
    this.working = true;
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
    this.working = false;
  }
}
