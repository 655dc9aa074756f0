import { Injectable } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { Database } from '../database/database';
import { Day, lowestId } from '../database/partitions';
import { TableRegistry } from '../stored-data/table-registry';
import { WorkspacesRepository } from '../workspaces/workspaces.repository';

const BATCH = 500;
/** Between batches, so that others are not slowed. */
const PAUSE_MS = 25;

/**
 * Gives up what waits for a suspended workspace longer than events are kept: or else it would keep the days of every
 * workspace's history.
 */
@Injectable()
export class SuspendedBacklog {
  constructor(
    private readonly database: Database,
    private readonly workspaces: WorkspacesRepository,
    private readonly tables: TableRegistry,
  ) {}

  /** Gives up what suspended workspaces have pending of a day, and of those before. */
  async drop(day: Day, stop?: AbortSignal): Promise<void> {
    const next = lowestId(day + 1);
    for (const tenantId of await this.workspaces.listSuspended()) {
      for (const { use } of this.tables.historyUses()) {
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
