interface Waiting<Item, Result> {
  item: Item;
  resolve: (result: Result) => void;
  reject: (error: Error) => void;
}

/**
 * Does in one go what is asked for in the same moment, and gathers meanwhile what is asked for next. So a busy process
 * has much done with one statement, and a quiet one has each thing done at once.
 */
export class Batcher<Item, Result> {
  private waiting: Waiting<Item, Result>[] = [];
  private working = false;

  /** `work` gets up to `max` items, and answers with a result for each, in their order. */
  constructor(
    private readonly max: number,
    private readonly work: (items: Item[]) => Promise<Result[]>,
  ) {}

  /** Settles once the item's batch is done; rejects with all of a batch that failed. */
  add(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ item, resolve, reject });
      if (!this.working) void this.workAll();
    });
  }

  private async workAll(): Promise<void> {
    this.working = true;
    // Lets what is asked for in the same moment into the first batch.
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
