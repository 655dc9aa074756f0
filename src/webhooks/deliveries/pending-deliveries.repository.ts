import { Injectable } from '@nestjs/common';
import { newId } from '../../common/ids';
import { Database } from '../../database/database';
import { Transaction } from '../../database/transaction';
import { Metrics } from '../../metrics/metrics';
import { AttemptOutcome } from '../sending/attempt-outcome';
import { ClaimedDelivery } from './claimed-delivery';
import { ClaimBatcher } from './claim-batcher';
import { IS_DUE, LEASE } from './lease';

/** A delivery that is due for longer has lost its wake-up. */
const OVERDUE = `interval '1 second'`;
const SWEEP_LOCK = 7_254_140;
const CLEANUP_BATCH = 1_000;

/** A skip scan of the pending index, one row for each endpoint. */
const ENDPOINTS_WITH_PENDING = `
  WITH RECURSIVE with_pending AS (
    (SELECT endpoint_id FROM webhook_deliveries WHERE status = 'PENDING' ORDER BY endpoint_id LIMIT 1)
    UNION ALL
    SELECT (SELECT d.endpoint_id FROM webhook_deliveries d
            WHERE d.status = 'PENDING' AND d.endpoint_id > with_pending.endpoint_id ORDER BY d.endpoint_id LIMIT 1)
    FROM with_pending WHERE with_pending.endpoint_id IS NOT NULL
  )`;

export interface RecordedAttempt {
  delivery: ClaimedDelivery;
  outcome: AttemptOutcome;
  status: 'PENDING' | 'SUCCEEDED' | 'EXHAUSTED';
  /** Until the next attempt; null for none. */
  retryDelayMs: number | null;
}

/**
 * Claims deliveries and records attempts, in batches, by the database's clock. Statements that wait for the locks of
 * many rows take them in the order of ids, as `cancelPendingDeliveries` does, so they can't deadlock.
 */
@Injectable()
export class PendingDeliveriesRepository {
  private readonly claims: ClaimBatcher;

  constructor(
    private readonly database: Database,
    private readonly metrics: Metrics,
  ) {
    this.claims = new ClaimBatcher(database);
  }

  /** Claims up to `count` due deliveries of an active endpoint under a new lease, the longest due first. */
  async claim(endpointId: string, count: number): Promise<ClaimedDelivery[]> {
    const claimed = await this.claims.claim(endpointId, count);
    this.metrics.webhookLeasesExpired.inc(claimed.filter(({ wasLeased }) => wasLeased).length);
    return claimed.map(({ delivery }) => delivery);
  }

  async hasDue(endpointId: string): Promise<boolean> {
    const [row] = await this.database.query<{ due: boolean }>(
      `SELECT EXISTS (SELECT FROM webhook_deliveries d WHERE d.endpoint_id = $1 AND ${IS_DUE})
              AND EXISTS (SELECT FROM webhook_endpoints WHERE id = $1 AND active) AS due`,
      [endpointId],
    );
    return row!.due;
  }

  /** Releases claimed deliveries without an attempt. They are due again after the delay. */
  async postpone(deliveries: ClaimedDelivery[], delayMs: number): Promise<void> {
    await this.database.query(
      `WITH locked AS (
         SELECT d.tenant_id, d.id FROM unnest($1::uuid[], $2::uuid[], $3::uuid[]) AS p (tenant_id, id, lease_id)
         JOIN webhook_deliveries d
           ON d.tenant_id = p.tenant_id AND d.id = p.id AND d.lease_id = p.lease_id AND d.finished_at IS NULL
         ORDER BY d.tenant_id, d.id FOR NO KEY UPDATE OF d
       )
       UPDATE webhook_deliveries d
       SET next_attempt_at = now() + $4 * interval '1 millisecond', lease_id = NULL, lease_until = NULL
       FROM locked WHERE d.tenant_id = locked.tenant_id AND d.id = locked.id`,
      [
        deliveries.map(({ tenantId }) => tenantId),
        deliveries.map(({ id }) => id),
        deliveries.map(({ leaseId }) => leaseId),
        delayMs,
      ],
    );
  }

  /**
   * Records attempts and updates their deliveries, in one statement. An attempt whose lease has expired and was claimed
   * again is inserted, but does not change the delivery.
   */
  async record(attempts: RecordedAttempt[]): Promise<void> {
    await this.database.query(
      `WITH outcome AS (
         SELECT * FROM unnest(
           $1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::integer[],
           $6::uuid[], $7::timestamptz[], $8::integer[], $9::smallint[], $10::text[], $11::text[], $12::bytea[],
           $13::real[], $14::real[], $15::real[], $16::real[]
         ) AS o (tenant_id, delivery_id, lease_id, status, retry_delay_ms,
                 id, attempted_at, duration_ms, status_code, error, error_message, response,
                 lookup_ms, connect_ms, tls_ms, first_byte_ms)
       ), inserted AS (
         INSERT INTO webhook_attempts
           (tenant_id, delivery_id, id, attempted_at, duration_ms, status_code, error, error_message, response,
            lookup_ms, connect_ms, tls_ms, first_byte_ms)
         SELECT tenant_id, delivery_id, id, attempted_at, duration_ms, status_code, error, error_message, response,
                lookup_ms, connect_ms, tls_ms, first_byte_ms
         FROM outcome
       ), locked AS (
         SELECT d.tenant_id, d.id, o.status, o.retry_delay_ms FROM outcome o
         JOIN webhook_deliveries d
           ON d.tenant_id = o.tenant_id AND d.id = o.delivery_id AND d.lease_id = o.lease_id AND d.finished_at IS NULL
         ORDER BY d.tenant_id, d.id FOR NO KEY UPDATE OF d
       )
       UPDATE webhook_deliveries d
       SET status = locked.status,
           attempt_count = d.attempt_count + 1,
           next_attempt_at = coalesce(now() + locked.retry_delay_ms * interval '1 millisecond', d.next_attempt_at),
           lease_id = NULL,
           lease_until = NULL,
           finished_at = CASE WHEN locked.status <> 'PENDING' THEN now() END
       FROM locked WHERE d.tenant_id = locked.tenant_id AND d.id = locked.id`,
      [
        attempts.map(({ delivery }) => delivery.tenantId),
        attempts.map(({ delivery }) => delivery.id),
        attempts.map(({ delivery }) => delivery.leaseId),
        attempts.map(({ status }) => status),
        attempts.map(({ retryDelayMs }) => retryDelayMs),
        attempts.map(() => newId()),
        attempts.map(({ outcome }) => outcome.at),
        attempts.map(({ outcome }) => Math.round(outcome.durationMs)),
        attempts.map(({ outcome }) => outcome.statusCode),
        attempts.map(({ outcome }) => outcome.error),
        attempts.map(({ outcome }) => outcome.errorMessage),
        attempts.map(({ outcome }) => outcome.response),
        attempts.map(({ outcome }) => outcome.phases.lookupMs),
        attempts.map(({ outcome }) => outcome.phases.connectMs),
        attempts.map(({ outcome }) => outcome.phases.tlsMs),
        attempts.map(({ outcome }) => outcome.phases.firstByteMs),
      ],
    );
  }

  /** Inserts a delivery with a lease, for an attempt that the caller makes at once. */
  async insertClaimed(tx: Transaction, delivery: ClaimedDelivery, eventId: string): Promise<void> {
    const { tenantId, id, endpointId, eventType, maxAttempts, leaseId } = delivery;
    await tx.query(
      `INSERT INTO webhook_deliveries (tenant_id, id, endpoint_id, event_id, event_type, status, max_attempts,
         next_attempt_at, lease_id, lease_until, created_at)
       VALUES ($1, $2, $3, $4, $5, 'PENDING', $6, now(), $7, now() + ${LEASE}, now())`,
      [tenantId, id, endpointId, eventId, eventType, maxAttempts, leaseId],
    );
  }

  /**
   * Finds active endpoints with overdue deliveries, at most `count`. Also cancels deliveries that were inserted while
   * their endpoint was being deactivated. One process at a time; the others get an empty list.
   */
  sweep(count: number): Promise<string[]> {
    return this.database.transaction(async (tx) => {
      const [lock] = await tx.query<{ taken: boolean }>(`SELECT pg_try_advisory_xact_lock($1) AS taken`, [
        SWEEP_LOCK,
      ]);
      if (!lock!.taken) return [];
      await this.cancelOfInactiveEndpoints(tx);
      const rows = await tx.query<{ id: string }>(
        `${ENDPOINTS_WITH_PENDING}
         SELECT w.id FROM with_pending JOIN webhook_endpoints w ON w.id = with_pending.endpoint_id AND w.active,
         LATERAL (
           SELECT FROM webhook_deliveries d
           WHERE d.endpoint_id = w.id AND ${IS_DUE} AND d.next_attempt_at < now() - ${OVERDUE} LIMIT 1) due
         ORDER BY random() LIMIT $1`,
        [count],
      );
      return rows.map(({ id }) => id);
    });
  }

  private async cancelOfInactiveEndpoints(tx: Transaction): Promise<void> {
    await tx.query(
      `${ENDPOINTS_WITH_PENDING}, of_inactive AS (
         SELECT d.tenant_id, d.id FROM with_pending JOIN webhook_endpoints w ON w.id = with_pending.endpoint_id AND NOT w.active,
         LATERAL (
           SELECT tenant_id, id FROM webhook_deliveries
           WHERE endpoint_id = w.id AND status = 'PENDING' AND (lease_until IS NULL OR lease_until < now())
           LIMIT ${CLEANUP_BATCH} FOR UPDATE SKIP LOCKED) d
         LIMIT ${CLEANUP_BATCH}
       )
       UPDATE webhook_deliveries d
       SET status = 'CANCELLED', finished_at = now(), lease_id = NULL, lease_until = NULL
       FROM of_inactive WHERE d.tenant_id = of_inactive.tenant_id AND d.id = of_inactive.id`,
    );
  }
}
