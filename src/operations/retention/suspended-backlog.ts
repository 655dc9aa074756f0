import { Injectable } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { Database } from '../../database/database';
import { Day, lowestId } from '../../database/history/partitions';
import { TableRegistry } from '../../database/tables/table-registry';
import { WorkspacesRepository } from '../../workspaces/workspaces.repository';

const BATCH = 500;
/** Pause between batches, so that the clean-up does not slow other work. */
const PAUSE_MS = 25;

/**
 * Gives up work that has waited for a suspended workspace longer than events are kept. Otherwise it would
 * keep the days of every workspace's history.
 */
@Injectable()
export class SuspendedBacklog {
  constructor(
    private readonly database: Database,
    private readonly workspaces: WorkspacesRepository,
    private readonly tables: TableRegistry,
  ) {}

  /** Gives up the pending work of suspended workspaces for events up to and including a day. */
  async drop(day: Day, stop?: AbortSignal): Promise<void> {
    const next = lowestId(day + 1);
    for (const tenantId of await this.workspaces.listSuspended()) {
      for (const { use } of this.tables.listHistoryUses()) {
        if (!use.giveUpSuspended) continue;
        for (let count = BATCH; count === BATCH && !stop?.aborted;) {
          count = await this.database.queueTransaction((tx) =>
            use.giveUpSuspended!(tx, tenantId, next, BATCH),
          );
          if (count === BATCH) await sleep(PAUSE_MS);
        }
      }
    }
  }
}
