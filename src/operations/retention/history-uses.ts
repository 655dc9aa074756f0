import { Injectable } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { LOWEST_ID } from '../../common/ids';
import { Database } from '../../database/database';
import { Day, lowestId, startOf } from '../../database/history/partitions';
import { TableRegistry } from '../../database/tables/table-registry';
import { TableRowsRepository } from '../../database/tables/table-rows.repository';
import { WorkspacesRepository } from '../../workspaces/workspaces.repository';

const STEP = 1_000;
const BATCH = 500;
/** Pause in milliseconds between batches, so that they do not slow down other work. */
const PAUSE_MS = 25;

interface HistoryReference {
  tenantId: string;
  table: string;
}

/**
 * Finds unfinished work that needs the events or deliveries of a day, and gives up such work of suspended
 * workspaces. A day's partitions must stay while any work needs them.
 */
@Injectable()
export class HistoryUses {
  constructor(
    private readonly database: Database,
    private readonly workspaces: WorkspacesRepository,
    private readonly tables: TableRegistry,
    private readonly rows: TableRowsRepository,
  ) {}

  /** Returns one piece of work that needs the day's events or deliveries; null if there is none. */
  async find(day: Day): Promise<HistoryReference | null> {
    const uses = this.tables.listHistoryUses();
    const bounds = { first: lowestId(day), next: lowestId(day + 1), start: startOf(day) };
    for (let after = LOWEST_ID; ;) {
      const ids = await this.workspaces.listIds(after, STEP);
      const keys = ids.map((tenantId) => ({ tenantId }));
      for (const batch of this.database.batchesOf(keys, STEP)) {
        const tenantIds = batch.map(({ tenantId }) => tenantId);
        const workspaces = await this.database.queueTransaction((tx) =>
          this.rows.findHistoryUses(tx, uses, tenantIds, bounds),
        );
        const found = workspaces.find(({ table }) => table !== null);
        if (found) return found as HistoryReference;
      }
      if (ids.length < STEP) return null;
      after = ids.at(-1)!;
    }
  }

  /**
   * Gives up the work of suspended workspaces for events up to the end of a day, because it would prevent the
   * drop of the day's partitions, which all workspaces share. Such work has waited longer than events are
   * stored.
   */
  async giveUpSuspended(day: Day, stop?: AbortSignal): Promise<void> {
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
