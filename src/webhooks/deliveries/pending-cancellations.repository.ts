import { Injectable } from '@nestjs/common';
import { LOWEST_ID } from '../../common/ids';
import { WorkspaceServer } from '../../database/placement/placement';
import { Transaction } from '../../database/transaction';

/** Number of cancellations that one step of the search over all workspaces reads. */
const STEP_ROWS = 1_000;

/**
 * Names the activation of an endpoint that has ended or takes fewer event types. Pending deliveries of it and
 * of earlier activations are cancelled if the endpoint is not owed them any more.
 */
export interface CancellationKey {
  tenantId: string;
  endpointId: string;
  activation: number;
}

/** Locked cancellation. */
export interface LockedCancellation {
  /** Time at which it began, or began again. */
  begunAt: string;
  /** Whether every attempt that was in flight has ended, so that no further delivery can appear. */
  isSettled: boolean;
}

type Position = [tenantId: string, endpointId: string, activation: number];
export const BEFORE_ALL_CANCELLATIONS: Position = [LOWEST_ID, LOWEST_ID, -1];

const BY_KEY = 'tenant_id = $1 AND endpoint_id = $2 AND activation = $3';

@Injectable()
export class PendingCancellationsRepository {
  /** Makes a step of a search of a server for cancellations; `next` is null after the last. */
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

  /** Locks a cancellation; null when it is done, or another process has it. */
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
