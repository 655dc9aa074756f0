import { Injectable } from '@nestjs/common';
import { newId } from '../../common/ids';
import { Database } from '../../database/database';
import { Transaction } from '../../database/transaction';
import { Metrics } from '../../metrics/metrics';
import { AttemptOutcome } from '../sending/attempt-outcome';
import { ClaimedDelivery } from './claimed-delivery';
import { ClaimBatcher } from './claim-batcher';
import { IS_DUE, LEASE } from './lease';

/** Overdue by this, and nobody came: a wake-up was lost. */
const OVERDUE = `interval '1 second'`;
const SWEEP_LOCK = 7_254_140;
const CLEANUP_BATCH = 1_000;

/** The endpoints that are owed anything, found by skipping through the pending index, however much each is owed. */
const ENDPOINTS_OWED = `
  WITH RECURSIVE owed AS (
    (SELECT endpoint_id FROM webhook_deliveries WHERE status = 'PENDING' ORDER BY endpoint_id LIMIT 1)
    UNION ALL
    SELECT (SELECT d.endpoint_id FROM webhook_deliveries d
            WHERE d.status = 'PENDING' AND d.endpoint_id > owed.endpoint_id ORDER BY d.endpoint_id LIMIT 1)
    FROM owed WHERE owed.endpoint_id IS NOT NULL
  )`;

/** What an attempt came to, and what that makes of its delivery. */
export interface RecordedAttempt {
  delivery: ClaimedDelivery;
  outcome: AttemptOutcome;
  status: 'PENDING' | 'SUCCEEDED' | 'EXHAUSTED';
  /** Until the next attempt; null when there is none. */
  retryDelayMs: number | null;
}

/**
 * The worker's side of the deliveries: claims and records, in batches. Times are the database's own. What waits for the
 * locks of many rows takes them in the order of ids, as `cancelPendingDeliveries` does: so no two wait for each other.
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

  /** Takes up to `count` due deliveries of an active endpoint under a new lease, the longest due first. */
  async claim(endpointId: string, count: number): Promise<ClaimedDelivery[]> {
    const claimed = await this.claims.claim(endpointId, count);
    this.metrics.webhookLeasesExpired.inc(claimed.filter(({ wasLeased }) => wasLeased).length);
    return claimed.map(({ delivery }) => delivery);
  }

  /** Whether something of an active endpoint is due and nobody's. */
  async hasDue(endpointId: string): Promise<boolean> {
    const [row] = await this.database.query<{ due: boolean }>(
      `SELECT EXISTS (SELECT FROM webhook_deliveries d WHERE d.endpoint_id = $1 AND ${IS_DUE})
              AND EXISTS (SELECT FROM webhook_endpoints WHERE id = $1 AND active) AS due`,
      [endpointId],
    );
    return row!.due;
  }

  /** Gives claimed deliveries back, untried, to be due again after a while. */
  async postpone(deliveries: ClaimedDelivery[], delayMs: number): Promise<void> {
    await this.database.query(
      `WITH held AS (
         SELECT d.tenant_id, d.id FROM unnest($1::uuid[], $2::uuid[], $3::uuid[]) AS p (tenant_id, id, lease_id)
         JOIN webhook_deliveries d
           ON d.tenant_id = p.tenant_id AND d.id = p.id AND d.lease_id = p.lease_id AND d.finished_at IS NULL
         ORDER BY d.tenant_id, d.id FOR NO KEY UPDATE OF d
       )
       UPDATE webhook_deliveries d
       SET next_attempt_at = now() + $4 * interval '1 millisecond', lease_id = NULL, lease_until = NULL
       FROM held WHERE d.tenant_id = held.tenant_id AND d.id = held.id`,
      [
        deliveries.map(({ tenantId }) => tenantId),
        deliveries.map(({ id }) => id),
        deliveries.map(({ leaseId }) => leaseId),
        delayMs,
      ],
    );
  }

  /**
   * Writes down attempts, and what they make of their deliveries, in one statement. An attempt whose lease has passed
   * to another is kept as what happened, but no longer decides.
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
       ), kept AS (
         INSERT INTO webhook_attempts
           (tenant_id, delivery_id, id, attempted_at, duration_ms, status_code, error, error_message, response,
            lookup_ms, connect_ms, tls_ms, first_byte_ms)
         SELECT tenant_id, delivery_id, id, attempted_at, duration_ms, status_code, error, error_message, response,
                lookup_ms, connect_ms, tls_ms, first_byte_ms
         FROM outcome
       ), held AS (
         SELECT d.tenant_id, d.id, o.status, o.retry_delay_ms FROM outcome o
         JOIN webhook_deliveries d
           ON d.tenant_id = o.tenant_id AND d.id = o.delivery_id AND d.lease_id = o.lease_id AND d.finished_at IS NULL
         ORDER BY d.tenant_id, d.id FOR NO KEY UPDATE OF d
       )
       UPDATE webhook_deliveries d
       SET status = held.status,
           attempt_count = d.attempt_count + 1,
           next_attempt_at = coalesce(now() + held.retry_delay_ms * interval '1 millisecond', d.next_attempt_at),
           lease_id = NULL,
           lease_until = NULL,
           finished_at = CASE WHEN held.status <> 'PENDING' THEN now() END
       FROM held WHERE d.tenant_id = held.tenant_id AND d.id = held.id`,
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

  /** Owes one event to one endpoint and claims it in the same breath, for an attempt that is made at once. */
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
   * Looks for what was forgotten: endpoints with overdue deliveries that nobody holds, and deliveries that an endpoint
   * got while it was being deactivated, which are cancelled. One process at a time looks.
   * @returns the endpoints to wake, at most `count`
   */
  sweep(count: number): Promise<string[]> {
    return this.database.transaction(async (tx) => {
      const [lock] = await tx.query<{ taken: boolean }>(`SELECT pg_try_advisory_xact_lock($1) AS taken`, [
        SWEEP_LOCK,
      ]);
      if (!lock!.taken) return [];
      await this.cancelUnwanted(tx);
      const rows = await tx.query<{ id: string }>(
        `${ENDPOINTS_OWED}
         SELECT w.id FROM owed JOIN webhook_endpoints w ON w.id = owed.endpoint_id AND w.active,
         LATERAL (
           SELECT FROM webhook_deliveries d
           WHERE d.endpoint_id = w.id AND ${IS_DUE} AND d.next_attempt_at < now() - ${OVERDUE} LIMIT 1) due
         ORDER BY random() LIMIT $1`,
        [count],
      );
      return rows.map(({ id }) => id);
    });
  }

  private async cancelUnwanted(tx: Transaction): Promise<void> {
    await tx.query(
      `${ENDPOINTS_OWED}, unwanted AS (
         SELECT d.tenant_id, d.id FROM owed JOIN webhook_endpoints w ON w.id = owed.endpoint_id AND NOT w.active,
         LATERAL (
           SELECT tenant_id, id FROM webhook_deliveries
           WHERE endpoint_id = w.id AND status = 'PENDING' AND (lease_until IS NULL OR lease_until < now())
           LIMIT ${CLEANUP_BATCH} FOR UPDATE SKIP LOCKED) d
         LIMIT ${CLEANUP_BATCH}
       )
       UPDATE webhook_deliveries d
       SET status = 'CANCELLED', finished_at = now(), lease_id = NULL, lease_until = NULL
       FROM unwanted WHERE d.tenant_id = unwanted.tenant_id AND d.id = unwanted.id`,
    );
  }
}
