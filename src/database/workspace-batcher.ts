import { Batcher } from '../common/batcher';
import type { Database } from './database';

/**
 * Batches concurrent calls as `Batcher` does: of all workspaces together where one statement may serve
 * several, else of each workspace apart. So a workspace whose server hangs holds up no others.
 */
export class WorkspaceBatcher<Item, Result> {
  /** Batchers with items, by the key of their workspaces. */
  private readonly batchers = new Map<string, Batcher<Item, Result>>();

  constructor(
    private readonly database: Database,
    private readonly makeBatcher: () => Batcher<Item, Result>,
  ) {}

  /** Adds an item of a workspace to the next batch, and resolves to its result. */
  submit(tenantId: string, item: Item): Promise<Result> {
    const key = this.database.batchKeyOf(tenantId);
    const batcher = this.batchers.get(key) ?? this.makeBatcher();
    this.batchers.set(key, batcher);
    return batcher.submit(item).finally(() => {
      if (batcher.isIdle && this.batchers.get(key) === batcher) this.batchers.delete(key);
    });
  }
}
