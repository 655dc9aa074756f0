import { Batcher } from '../common/batcher';
import { Memo } from '../common/memo';
import type { Database } from './database';

/** Largest number of batchers that are kept. A batcher that is not kept still processes its items. */
const MAX_BATCHERS = 1_000;

/**
 * Batches concurrent calls: of all workspaces together if one statement may serve them, otherwise of each
 * workspace by itself, so that a workspace whose server hangs holds up no other.
 */
export class WorkspaceBatcher<Item, Result> {
  /** Batchers by the key that `Database.batchKeyOf` returns for their workspaces. */
  private readonly batchers = new Memo<Batcher<Item, Result>>(MAX_BATCHERS);

  constructor(
    private readonly database: Database,
    private readonly makeBatcher: () => Batcher<Item, Result>,
  ) {}

  /** Adds an item of a workspace to the next batch, and resolves to its result. */
  submit(tenantId: string, item: Item): Promise<Result> {
    return this.batchers.get(this.database.batchKeyOf(tenantId), this.makeBatcher).submit(item);
  }
}
