import { Injectable } from '@nestjs/common';
import { WorkspaceServer } from '../../database/placement/placement';
import { Transaction } from '../../database/transaction';
import { DUE_ROWS, DuePosition, DueStep, searchDue } from '../../queue/polling/due-position';
import { isSuspended } from '../../workspaces/suspension';
import { ConnectionKey } from '../adapters/channel-adapter';

const EVERY = `interval '1 hour'`;

/** SQL condition of connections whose provider can be asked. The index of due checks has it too. */
const CAN_BE_ASKED = `channel = 'TELEGRAM' AND status = 'ACTIVE'`;

/** Schedules the checks of whether providers reach connections, one an hour for each. */
@Injectable()
export class ReceptionChecksRepository {
  /** Finds up to 1,000 connections of a database server whose checks are due. */
  findDue(after: DuePosition, server: WorkspaceServer): Promise<DueStep<ConnectionKey>> {
    return searchDue<ConnectionKey>(
      server,
      after,
      `SELECT tenant_id AS "tenantId", id, reception_due_at::text AS "dueAt"
       FROM channel_connections
       WHERE ${CAN_BE_ASKED} AND reception_due_at <= now() AND reception_due_at >= $1::timestamptz
       ORDER BY reception_due_at LIMIT ${DUE_ROWS} OFFSET $2`,
    );
  }

  /**
   * Claims a due check, and schedules the next one.
   * @returns false if another worker has it, or the workspace is suspended
   */
  async claim(tx: Transaction, { tenantId, id }: ConnectionKey): Promise<boolean> {
    const [row] = await tx.query<{ isSuspended: boolean }>(
      `UPDATE channel_connections SET reception_due_at = now() + ${EVERY}
       WHERE tenant_id = $1 AND id = $2 AND ${CAN_BE_ASKED} AND reception_due_at <= now()
       RETURNING ${isSuspended('$1')} AS "isSuspended"`,
      [tenantId, id],
    );
    return row?.isSuspended === false;
  }
}
