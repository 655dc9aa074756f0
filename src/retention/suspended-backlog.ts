import { Injectable } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { Database } from '../database/database';
import { Day, lowestId } from '../database/partitions';

const BATCH = 500;
/** Between batches, so that others are not slowed. */
const PAUSE_MS = 25;

const IS_SUSPENDED = 'EXISTS (SELECT FROM workspaces w WHERE w.id = $1 AND w.suspended_at IS NOT NULL)';

/**
 * What waits while a workspace is suspended waits as long as events are kept, and not longer: or else it would keep the
 * days of everybody's history.
 */
@Injectable()
export class SuspendedBacklog {
  constructor(private readonly database: Database) {}

  /** Drops the deliveries of a day, and of those before, that suspended workspaces have pending. */
  async drop(day: Day, stop?: AbortSignal): Promise<void> {
    const suspended = await this.database.query<{ id: string }>(
      'SELECT id FROM workspaces WHERE suspended_at IS NOT NULL ORDER BY id',
    );
    for (const { id } of suspended) {
      await this.passOver(id, day);
      for (let deleted = BATCH; deleted === BATCH && !stop?.aborted;) {
        deleted = await this.step(id, day);
        if (deleted === BATCH) await sleep(PAUSE_MS);
      }
    }
  }

  private step(tenantId: string, day: Day): Promise<number> {
    return this.database.queueTransaction(async (tx) => {
      const rows = await tx.query(
        `WITH step AS (
           SELECT id FROM pending_deliveries
           WHERE tenant_id = $1 AND id < $2 AND (lease_id IS NULL OR next_attempt_at <= now()) AND ${IS_SUSPENDED}
           ORDER BY id LIMIT ${BATCH} FOR UPDATE SKIP LOCKED
         )
         DELETE FROM pending_deliveries p USING step WHERE p.tenant_id = $1 AND p.id = step.id RETURNING 1`,
        [tenantId, lowestId(day + 1)],
      );
      return rows.length;
    });
  }

  /** Of running recoveries, but for those with a filter: these go down from the newest delivery. */
  private async passOver(tenantId: string, day: Day): Promise<void> {
    await this.database.query(
      `UPDATE webhook_recoveries SET cursor = $2
       WHERE tenant_id = $1 AND status = 'RUNNING' AND filter IS NULL AND cursor < $2 AND ${IS_SUSPENDED}`,
      [tenantId, lowestId(day + 1)],
    );
  }
}
