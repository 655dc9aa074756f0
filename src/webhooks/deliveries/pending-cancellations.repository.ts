import { Injectable } from '@nestjs/common';
import { Database } from '../../database/database';
import { Transaction } from '../../database/transaction';

/** Number of cancellations that one read returns at most. */
const MAX_LISTED = 1_000;

interface EndpointActivation {
  tenantId: string;
  endpointId: string;
  activation: number;
}

/**
 * Activation of an endpoint that has ended or receives fewer event types. The pending deliveries of it and of
 * earlier activations that the endpoint is not owed any more are being cancelled.
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

  list(): Promise<PendingCancellation[]> {
    return this.database.placement.searchAll<PendingCancellation & { createdAt: Date }>(
      `SELECT ${COLUMNS}, created_at AS "createdAt" FROM pending_cancellations ORDER BY created_at LIMIT ${MAX_LISTED}`,
      { order: ({ createdAt }) => [createdAt], limit: MAX_LISTED, times: ['createdAt'] },
    );
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
