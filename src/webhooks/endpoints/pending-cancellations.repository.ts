import { Injectable } from '@nestjs/common';
import { Database } from '../../database/database';
import { workspaceOf } from '../../database/key-list';
import { Pipelined, Transaction } from '../../database/transaction';
import { IS_OWED } from './subscription';

/** Number of cancellations that one read returns at most. */
const MAX_LISTED = 1_000;

interface EndpointActivation {
  tenantId: string;
  endpointId: string;
  activation: number;
}

/**
 * Activation of an endpoint that has ended or takes fewer event types. Of its pending deliveries and those of
 * earlier activations, those are being cancelled that the endpoint is not owed any more.
 */
export interface PendingCancellation extends EndpointActivation {
  /** Number of deliveries cancelled so far. */
  cancelled: number;
  /** Whether every attempt that was in flight has ended, so that no further delivery can appear. */
  isSettled: boolean;
}

const COLUMNS = `tenant_id AS "tenantId", endpoint_id AS "endpointId", activation, cancelled::float8,
  created_at < now() - interval '1 minute' AS "isSettled"`;
const BY_KEY = 'tenant_id = $1 AND endpoint_id = $2 AND activation = $3';

@Injectable()
export class PendingCancellationsRepository {
  constructor(private readonly database: Database) {}

  /** Inserts a cancellation. One of the same activation begins again: attempts may be in flight again. */
  async insert(tx: Transaction, tenantId: string, endpointId: string, activation: number): Promise<void> {
    await tx.query(
      `INSERT INTO pending_cancellations (tenant_id, endpoint_id, activation, created_at) VALUES ($1, $2, $3, now())
       ON CONFLICT (tenant_id, endpoint_id, activation) DO UPDATE SET created_at = excluded.created_at`,
      [tenantId, endpointId, activation],
    );
  }

  /** Inserts cancellations for those of the deliveries that their endpoints are not owed any more. */
  insertUnowedPipelined(
    tx: Transaction,
    deliveries: (EndpointActivation & { eventType: string })[],
  ): Pipelined {
    return tx.pipeline(
      `INSERT INTO pending_cancellations (tenant_id, endpoint_id, activation)
       SELECT DISTINCT w.tenant_id, p.endpoint_id, p.activation
       FROM unnest($1::uuid[], $2::uuid[], $3::integer[], $4::text[]) AS p (tenant_id, endpoint_id, activation, event_type)
       JOIN webhook_endpoints w ON w.tenant_id = ${workspaceOf('p', '$1', this.database)} AND w.id = p.endpoint_id
       WHERE NOT ${IS_OWED} ORDER BY 1, 2, 3 ON CONFLICT DO NOTHING`,
      [
        deliveries.map(({ tenantId }) => tenantId),
        deliveries.map(({ endpointId }) => endpointId),
        deliveries.map(({ activation }) => activation),
        deliveries.map(({ eventType }) => eventType),
      ],
    );
  }

  list(): Promise<PendingCancellation[]> {
    return this.database.search<PendingCancellation & { createdAt: Date }>(
      `SELECT ${COLUMNS}, created_at AS "createdAt" FROM pending_cancellations ORDER BY created_at LIMIT ${MAX_LISTED}`,
      { order: ({ createdAt }) => [createdAt], limit: MAX_LISTED, times: ['createdAt'] },
    );
  }

  /** Returns how many deliveries of an endpoint are cancelled so far; null when none are being cancelled. */
  async getProgress(tenantId: string, endpointId: string): Promise<{ cancelled: number } | null> {
    const [row] = await this.database.query<{ cancelled: number | null }>(
      `SELECT sum(cancelled)::float8 AS cancelled FROM pending_cancellations WHERE tenant_id = $1 AND endpoint_id = $2`,
      [tenantId, endpointId],
    );
    return row!.cancelled === null ? null : { cancelled: row!.cancelled };
  }

  /**
   * Locks a cancellation.
   * @returns false when another process has it
   */
  async lock(tx: Transaction, { tenantId, endpointId, activation }: PendingCancellation): Promise<boolean> {
    const rows = await tx.query(`SELECT FROM pending_cancellations WHERE ${BY_KEY} FOR UPDATE SKIP LOCKED`, [
      tenantId,
      endpointId,
      activation,
    ]);
    return rows.length > 0;
  }

  async advance(
    tx: Transaction,
    { tenantId, endpointId, activation }: PendingCancellation,
    cancelled: number,
  ): Promise<void> {
    await tx.query(`UPDATE pending_cancellations SET cancelled = cancelled + $4 WHERE ${BY_KEY}`, [
      tenantId,
      endpointId,
      activation,
      cancelled,
    ]);
  }

  async delete(tx: Transaction, { tenantId, endpointId, activation }: PendingCancellation): Promise<void> {
    await tx.query(`DELETE FROM pending_cancellations WHERE ${BY_KEY}`, [tenantId, endpointId, activation]);
  }
}
