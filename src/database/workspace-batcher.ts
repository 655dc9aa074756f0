import { Batcher } from '../common/batcher';
import type { Database } from './database';

/** Number of batchers from which idle ones are removed. */
const MANY_BATCHERS = 1_000;

/**
 * Batches concurrent calls: of all workspaces together if one statement may serve them, otherwise of each
 * workspace by itself, so that a workspace whose server hangs holds up no other.
 */
export class WorkspaceBatcher<Item, Result> {
  /** Batchers by the key that `Database.batchKeyOf` returns for their workspaces. */
  private readonly batchers = new Map<string, Batcher<Item, Result>>();
  /** Number of batchers at which idle ones are removed the next time. */
  private sweepAt = MANY_BATCHERS;

  constructor(
    private readonly database: Database,
    private readonly makeBatcher: () => Batcher<Item, Result>,
  ) {}

  /** Adds an item of a workspace to the next batch, and resolves to its result. */
  submit(tenantId: string, item: Item): Promise<Result> {
    const key = this.database.batchKeyOf(tenantId);
    let batcher = this.batchers.get(key);
    if (!batcher) {
      if (this.batchers.size >= this.sweepAt) this.removeIdle();
      this.batchers.set(key, (batcher = this.makeBatcher()));
    }
    return batcher.submit(item);
  }

  private removeIdle(): void {
    for (const [key, batcher] of this.batchers) if (batcher.isIdle) this.batchers.delete(key);
    this.sweepAt = Math.max(MANY_BATCHERS, 2 * this.batchers.size);
  }
}
