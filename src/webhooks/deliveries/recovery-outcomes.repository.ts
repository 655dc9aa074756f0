import { Injectable } from '@nestjs/common';
import { groupBy } from '../../common/group-by';
import { newId } from '../../common/ids';
import { Database } from '../../database/database';
import { columnNamesOf, columnsOf, rowsToInsert } from '../../database/rows-to-insert';
import { Transaction } from '../../database/transaction';
import type { FinishedRound } from './delivery-history.repository';

export interface OutcomeCounts {
  succeeded: number;
  exhausted: number;
  cancelled: number;
}

/** End of a delivery. `recoveryId` is the recovery that made the delivery; null if none did. */
export interface DeliveryEnd {
  tenantId: string;
  recoveryId: string | null;
  status: FinishedRound['status'];
}

/**
 * Stores how deliveries of recoveries have ended, until a worker counts them. Each transaction inserts rows
 * of its own, so that it waits for no lock on the recovery.
 */
@Injectable()
export class RecoveryOutcomesRepository {
  constructor(private readonly database: Database) {}

  insertPipelined(tx: Transaction, ends: DeliveryEnd[]): void {
    const recovered = ends.filter(({ recoveryId }) => recoveryId !== null);
    if (recovered.length === 0) return;
    const groups = [...groupBy(recovered, ({ recoveryId }) => recoveryId!)];
    const columns = columnsOf(groups, {
      tenant_id: ['uuid', ([, [first]]) => first!.tenantId],
      recovery_id: ['uuid', ([recoveryId]) => recoveryId],
      id: ['uuid', newId],
      succeeded: ['integer', ([, ended]) => countOf(ended, 'SUCCEEDED')],
      exhausted: ['integer', ([, ended]) => countOf(ended, 'EXHAUSTED')],
      cancelled: ['integer', ([, ended]) => countOf(ended, 'CANCELLED')],
    });
    for (const { rows, parameters } of rowsToInsert(columns, this.database))
      tx.pipeline(`INSERT INTO recovery_outcomes (${columnNamesOf(columns)}) ${rows}`, parameters);
  }

  /**
   * Deletes up to `count` outcomes of a recovery, and returns them in the order in which they were inserted:
   * fewer than `count` if none is left.
   */
  async takeOutcomes(
    tx: Transaction,
    tenantId: string,
    recoveryId: string,
    count: number,
  ): Promise<OutcomeCounts[]> {
    const ofRecovery = 'tenant_id = $1 AND recovery_id = $2';
    const rows = await tx.prepared<OutcomeCounts & { id: string }>(
      `DELETE FROM recovery_outcomes WHERE ${ofRecovery} AND id IN (
         SELECT id FROM recovery_outcomes WHERE ${ofRecovery} ORDER BY id LIMIT $3)
       RETURNING id, succeeded, exhausted, cancelled`,
      [tenantId, recoveryId, count],
    );
    return rows.sort((a, b) => (a.id < b.id ? -1 : 1));
  }
}

function countOf(ends: DeliveryEnd[], status: DeliveryEnd['status']): number {
  return ends.filter((end) => end.status === status).length;
}
