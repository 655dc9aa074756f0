import { Injectable } from '@nestjs/common';
import { LOWEST_ID } from '../../common/ids';
import { WorkspaceServer } from '../../database/placement/placement';
import { Transaction } from '../../database/transaction';

const STEP_ROWS = 1_000;

/**
 * Key of a cancellation of an endpoint's pending deliveries. It covers the deliveries of this activation,
 * which has ended or receives fewer event types than before, and of all earlier activations.
 */
export interface CancellationKey {
  tenantId: string;
  endpointId: string;
  activation: number;
}

export interface LockedCancellation {
  /** Time at which the cancellation began, as PostgreSQL's text. Another edit of the endpoint restarts it. */
  begunAt: string;
  /** Whether a minute has passed since the start, so that all attempts of that time have ended. */
  isSettled: boolean;
}

type Position = [tenantId: string, endpointId: string, activation: number];
export const BEFORE_ALL_CANCELLATIONS: Position = [LOWEST_ID, LOWEST_ID, -1];

const BY_KEY = 'tenant_id = $1 AND endpoint_id = $2 AND activation = $3';

@Injectable()
export class PendingCancellationsRepository {
  /** Returns the next cancellations of a server; `next` is the key after which to go on, null at the end. */
  async find(
    after: Position,
    server: WorkspaceServer,
  ): Promise<{ items: CancellationKey[]; next: Position | null }> {
    const items = await server.search<CancellationKey>(
      `SELECT tenant_id AS "tenantId", endpoint_id AS "endpointId", activation FROM pending_cancellations
       WHERE (tenant_id, endpoint_id, activation) > ($1, $2, $3)
       ORDER BY tenant_id, endpoint_id, activation LIMIT ${STEP_ROWS}`,
      after,
      { order: (one) => [one.tenantId, one.endpointId, one.activation], limit: STEP_ROWS },
    );
    const last = items.at(-1);
    return {
      items,
      next: items.length < STEP_ROWS ? null : [last!.tenantId, last!.endpointId, last!.activation],
    };
  }

  /** Locks a cancellation. Returns null when it is finished, or another process has locked it. */
  async lock(
    tx: Transaction,
    { tenantId, endpointId, activation }: CancellationKey,
  ): Promise<LockedCancellation | null> {
    const [row] = await tx.query<LockedCancellation>(
      `SELECT created_at::text AS "begunAt", created_at < now() - interval '1 minute' AS "isSettled"
       FROM pending_cancellations WHERE ${BY_KEY} FOR UPDATE SKIP LOCKED`,
      [tenantId, endpointId, activation],
    );
    return row ?? null;
  }

  async advance(
    tx: Transaction,
    { tenantId, endpointId, activation }: CancellationKey,
    cancelled: number,
  ): Promise<void> {
    await tx.query(`UPDATE pending_cancellations SET cancelled = cancelled + $4 WHERE ${BY_KEY}`, [
      tenantId,
      endpointId,
      activation,
      cancelled,
    ]);
  }

  async delete(tx: Transaction, { tenantId, endpointId, activation }: CancellationKey): Promise<void> {
    await tx.query(`DELETE FROM pending_cancellations WHERE ${BY_KEY}`, [tenantId, endpointId, activation]);
  }
}
