import { Batcher } from '../common/batcher';
import type { Database } from './database';

/**
 * Batches concurrent calls: of all workspaces together if one statement may serve them, otherwise of each
 * workspace by itself, so that a workspace whose server hangs holds up no other.
 */
export class WorkspaceBatcher<Item, Result> {
  /** Batchers that have items, by the key that `Database.batchKeyOf` returns for their workspaces. */
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
