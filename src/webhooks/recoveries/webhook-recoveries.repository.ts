import { Injectable } from '@nestjs/common';
import { idTime, isId } from '../../common/ids';
import { MAX_LIMIT } from '../../common/page';
import { Database } from '../../database/database';
import { Place } from '../../database/citus/places';
import { Transaction } from '../../database/transaction';
import { isSuspended } from '../../workspaces/suspension';
import { WebhookRecoveryEntity } from './webhook-recovery.entity';

/** Names a recovery. */
export interface RecoveryKey {
  tenantId: string;
  id: string;
}

/** Number of ended recoveries that one start deletes. */
const DELETED_AT_ONCE = 100;
/** Number of recoveries that one step of the search over all workspaces reads. */
const STEP_ROWS = 1_000;

@Injectable()
export class WebhookRecoveriesRepository {
  constructor(private readonly database: Database) {}

  async find(tenantId: string, id: string): Promise<WebhookRecoveryEntity | null> {
    return isId(id) ? this.database.manager.findOneBy(WebhookRecoveryEntity, { tenantId, id }) : null;
  }

  /** Lists an endpoint's recoveries, newest first. */
  listLatest(tenantId: string, endpointId: string, count: number): Promise<WebhookRecoveryEntity[]> {
    return this.database.manager.find(WebhookRecoveryEntity, {
      where: { tenantId, endpointId },
      order: { id: 'DESC' },
      take: count,
    });
  }

  /** Locks a recovery. It waits for a step that is under way. */
  async lock(tx: Transaction, tenantId: string, id: string): Promise<WebhookRecoveryEntity | null> {
    if (!isId(id)) return null;
    return tx.manager.findOne(WebhookRecoveryEntity, {
      where: { tenantId, id },
      lock: { mode: 'for_no_key_update' },
    });
  }

  /** Inserts a recovery, and deletes the oldest of its endpoint beyond those that can be listed. */
  async insert(tx: Transaction, recovery: WebhookRecoveryEntity): Promise<void> {
    await tx.manager.insert(WebhookRecoveryEntity, recovery);
    await tx.query(
      `DELETE FROM webhook_recoveries WHERE tenant_id = $1 AND is_settled AND id IN (
         SELECT id FROM webhook_recoveries WHERE tenant_id = $1 AND endpoint_id = $2 ORDER BY id DESC
         LIMIT ${DELETED_AT_ONCE} OFFSET ${MAX_LIMIT})`,
      [recovery.tenantId, recovery.endpointId],
    );
  }

  /** Makes a step of a search of a place for unsettled recoveries; `next` is null after the last. */
  async findUnsettled(
    after: string,
    place: Place,
  ): Promise<{ unsettled: RecoveryKey[]; next: string | null }> {
    const unsettled = await this.database.searchIn<RecoveryKey>(
      place,
      `SELECT tenant_id AS "tenantId", id FROM webhook_recoveries WHERE NOT is_settled AND id > $1
       ORDER BY id LIMIT ${STEP_ROWS}`,
      [after],
      { order: ({ id }) => [id], limit: STEP_ROWS },
    );
    return { unsettled, next: unsettled.length < STEP_ROWS ? null : unsettled.at(-1)!.id };
  }

  /** Locks a recovery. It returns null if it is settled, or another worker has it locked. */
  lockUnsettled(tx: Transaction, { tenantId, id }: RecoveryKey): Promise<WebhookRecoveryEntity | null> {
    return tx.manager.findOne(WebhookRecoveryEntity, {
      where: { tenantId, id, isSettled: false },
      lock: { mode: 'for_no_key_update', onLocked: 'skip_locked' },
    });
  }

  /**
   * Reports whether a transaction that began before a moment of the database's clock may still commit an
   * event. It looks until 10 s after the moment, longer than a request takes. Where nodes write the rows, the
   * server that the service is connected to does not see which transactions write: any of them may.
   */
  async isWriteUnderWay(tx: Transaction, before: Date): Promise<boolean> {
    const rows = await tx.query(
      `SELECT FROM pg_stat_activity
       WHERE datname = current_database() AND usename = current_user AND pid <> pg_backend_pid()
         AND ${this.database.spansWorkspaces ? 'backend_xid IS NOT NULL' : "state <> 'idle'"} AND xact_start < $1::timestamptz + interval '1 millisecond'
         AND now() < $1::timestamptz + interval '10 seconds'`,
      [before],
    );
    return rows.length > 0;
  }

  async advance(tx: Transaction, recovery: WebhookRecoveryEntity): Promise<void> {
    const { tenantId, id, status, recovered, cursor, finishedAt } = recovery;
    const { succeeded, exhausted, cancelled, isSettled } = recovery;
    await tx.manager.update(
      WebhookRecoveryEntity,
      { tenantId, id },
      { status, recovered, succeeded, exhausted, cancelled, isSettled, cursor, finishedAt },
    );
  }

  /**
   * Has the running recoveries of a suspended workspace leave out everything older than an id. Those without
   * a filter go on from there; those with a filter go down from the newest delivery, and end there.
   * @returns 0, because the statements change all of them
   */
  async passOver(tx: Transaction, tenantId: string, next: string): Promise<number> {
    const running = `tenant_id = $1 AND status = 'RUNNING' AND ${isSuspended('$1')}`;
    await tx.query(
      `UPDATE webhook_recoveries SET cursor = $2 WHERE ${running} AND filter IS NULL AND cursor < $2`,
      [tenantId, next],
    );
    await tx.query(
      `UPDATE webhook_recoveries SET since = $2
       WHERE ${running} AND filter IS NOT NULL AND (since IS NULL OR since < $2)`,
      [tenantId, idTime(next)],
    );
    return 0;
  }
}
