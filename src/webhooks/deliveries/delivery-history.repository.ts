import { Injectable } from '@nestjs/common';
import { Database, Reader } from '../../database/database';
import { Pipelined, Transaction } from '../../database/transaction';
import type { AttemptError, AttemptOutcome, AttemptPhases } from '../sending/attempt-outcome';
import { AttemptRecord } from './delivery';
import { conditionsOf, DeliveryFilter, DeliveryRow, StatusCount } from './delivery-filter';
import { PendingDelivery } from './pending-deliveries.repository';

export interface FinishedRound {
  id: string;
  round: number;
  status: 'SUCCEEDED' | 'EXHAUSTED' | 'CANCELLED';
}

type WithOutcome = AttemptRecord & { outcome: AttemptOutcome };

const ATTEMPT_COLUMNS = `attempted_at, duration_ms, status_code, error, error_message, response, lookup_ms, connect_ms,
  tls_ms, first_byte_ms`;

/** One POST and its outcome. */
export interface AttemptRow extends AttemptPhases {
  deliveryId: string;
  attemptedAt: Date;
  durationMs: number;
  statusCode: number | null;
  error: AttemptError | null;
  errorMessage: string | null;
  /** The first 16 KiB of the response body, as bytes: PostgreSQL rejects a NUL in text. */
  response: Buffer | null;
}

/** The latest rounds of deliveries that are not pending. */
const LATEST = `
  SELECT d.id, d.endpoint_id AS "endpointId", d.event_id AS "eventId", d.event_type AS "eventType", d.round, d.status,
         NULL AS "nextAttemptAt"
  FROM webhook_deliveries d
  WHERE d.tenant_id = $1
    AND NOT EXISTS (
      SELECT FROM webhook_deliveries l WHERE l.tenant_id = $1 AND l.id = d.id AND l.round > d.round)
    AND NOT EXISTS (SELECT FROM pending_deliveries p WHERE p.tenant_id = $1 AND p.id = d.id)`;

/**
 * The history: a row of webhook_deliveries for each finished round, with its last attempt, and a row of webhook_attempts
 * for each attempt before that one. Rows are written once; an erasure alone
 * takes answers out of them again.
 */
@Injectable()
export class DeliveryHistoryRepository {
  constructor(private readonly database: Database) {}

  /** Inserts rounds that an attempt has finished. */
  insertFinishedPipelined(tx: Transaction, records: WithOutcome[]): Pipelined {
    return tx.pipeline(
      `INSERT INTO webhook_deliveries
         (tenant_id, id, round, endpoint_id, event_id, event_type, status, attempt_count, finished_at, ${ATTEMPT_COLUMNS})
       SELECT tenant_id, id, round, endpoint_id, event_id, event_type, status, attempt_count, now(), ${ATTEMPT_COLUMNS}
       FROM unnest($1::timestamptz[], $2::integer[], $3::smallint[], $4::text[], $5::text[], $6::bytea[], $7::real[],
                   $8::real[], $9::real[], $10::real[], $11::uuid[], $12::uuid[], $13::smallint[], $14::smallint[],
                   $15::uuid[], $16::uuid[], $17::text[], $18::text[])
         AS o (${ATTEMPT_COLUMNS}, tenant_id, id, round, attempt_count, endpoint_id, event_id, event_type, status)
       ON CONFLICT (tenant_id, id, round) DO NOTHING`,
      [
        ...attemptColumns(records),
        records.map(({ delivery }) => delivery.endpoint.id),
        records.map(({ delivery }) => delivery.event.id),
        records.map(({ delivery }) => delivery.event.type),
        records.map(({ status }) => status),
      ],
    );
  }

  /** Inserts attempts that will be followed by another one. */
  insertAttemptsPipelined(tx: Transaction, records: WithOutcome[]): Pipelined {
    return tx.pipeline(
      `INSERT INTO webhook_attempts (tenant_id, delivery_id, round, attempt, ${ATTEMPT_COLUMNS})
       SELECT tenant_id, delivery_id, round, attempt, ${ATTEMPT_COLUMNS}
       FROM unnest($1::timestamptz[], $2::integer[], $3::smallint[], $4::text[], $5::text[], $6::bytea[], $7::real[],
                   $8::real[], $9::real[], $10::real[], $11::uuid[], $12::uuid[], $13::smallint[], $14::smallint[])
         AS o (${ATTEMPT_COLUMNS}, tenant_id, delivery_id, round, attempt)
       ON CONFLICT (tenant_id, delivery_id, round, attempt) DO NOTHING`,
      attemptColumns(records),
    );
  }

  /** Inserts rounds that end without a further attempt. */
  insertCancelledPipelined(tx: Transaction, deliveries: PendingDelivery[]): Pipelined {
    return tx.pipeline(
      `INSERT INTO webhook_deliveries
         (tenant_id, id, round, endpoint_id, event_id, event_type, status, attempt_count, finished_at)
       SELECT tenant_id, id, round, endpoint_id, event_id, event_type, 'CANCELLED', attempt_count, now()
       FROM unnest($1::uuid[], $2::uuid[], $3::smallint[], $4::uuid[], $5::uuid[], $6::text[], $7::smallint[])
         AS d (tenant_id, id, round, endpoint_id, event_id, event_type, attempt_count)
       ON CONFLICT (tenant_id, id, round) DO NOTHING`,
      [
        deliveries.map(({ tenantId }) => tenantId),
        deliveries.map(({ id }) => id),
        deliveries.map(({ round }) => round),
        deliveries.map(({ endpointId }) => endpointId),
        deliveries.map(({ eventId }) => eventId),
        deliveries.map(({ eventType }) => eventType),
        deliveries.map(({ attemptCount }) => attemptCount),
      ],
    );
  }

  /** Newest first, each with its latest round. Not those that are pending again. */
  list(tenantId: string, filter: DeliveryFilter, count: number): Promise<DeliveryRow[]> {
    const { where, parameters } = conditionsOf('d', tenantId, filter);
    if (filter.status) where.push(`d.status = $${parameters.push(filter.status)}`);
    const conditions = where.map((condition) => ` AND ${condition}`).join('');
    return this.database.query(`${LATEST}${conditions} ORDER BY d.id DESC LIMIT ${count}`, parameters);
  }

  async find(tenantId: string, id: string): Promise<DeliveryRow | null> {
    const [row] = await this.database.query<DeliveryRow>(`${LATEST} AND d.id = $2`, [tenantId, id]);
    return row ?? null;
  }

  /** Of an endpoint, but for tests. */
  async countByStatus(tenantId: string, endpointId: string, since: string): Promise<StatusCount[]> {
    return this.database.query(
      `SELECT status, count(*)::integer AS count FROM (
         ${LATEST} AND d.endpoint_id = $2 AND d.id >= $3 AND d.event_type <> 'webhook.test') AS latest
       GROUP BY status`,
      [tenantId, endpointId, since],
    );
  }

  /** The attempts of deliveries, of all rounds, oldest first. The answers' bodies only for one delivery. */
  async attemptsOf(tenantId: string, ids: string[]): Promise<AttemptRow[]> {
    const columns = `attempted_at AS "attemptedAt", duration_ms AS "durationMs", status_code AS "statusCode", error,
      error_message AS "errorMessage", lookup_ms AS "lookupMs", connect_ms AS "connectMs", tls_ms AS "tlsMs",
      first_byte_ms AS "firstByteMs", ${ids.length === 1 ? 'response' : 'NULL AS response'}`;
    return this.database.query<AttemptRow>(
      `SELECT delivery_id AS "deliveryId", round, attempt, ${columns} FROM webhook_attempts
       WHERE tenant_id = $1 AND delivery_id = ANY ($2)
       UNION ALL
       SELECT id, round, attempt_count, ${columns} FROM webhook_deliveries
       WHERE tenant_id = $1 AND id = ANY ($2) AND attempted_at IS NOT NULL
       ORDER BY 1, 2, 3`,
      [tenantId, ids],
    );
  }

  /** The latest finished round of each delivery that has one. */
  latestRounds(reader: Reader, tenantId: string, ids: string[]): Promise<FinishedRound[]> {
    return reader.prepared(
      `SELECT DISTINCT ON (id) id, round, status FROM webhook_deliveries
       WHERE tenant_id = $1 AND id = ANY ($2) ORDER BY id, round DESC`,
      [tenantId, ids],
    );
  }
}

function attemptColumns(records: WithOutcome[]): unknown[] {
  return [
    records.map(({ outcome }) => outcome.at),
    records.map(({ outcome }) => Math.round(outcome.durationMs)),
    records.map(({ outcome }) => outcome.statusCode),
    records.map(({ outcome }) => outcome.error),
    records.map(({ outcome }) => outcome.errorMessage),
    records.map(({ outcome }) => outcome.response),
    records.map(({ outcome }) => outcome.phases.lookupMs),
    records.map(({ outcome }) => outcome.phases.connectMs),
    records.map(({ outcome }) => outcome.phases.tlsMs),
    records.map(({ outcome }) => outcome.phases.firstByteMs),
    records.map(({ delivery }) => delivery.endpoint.tenantId),
    records.map(({ delivery }) => delivery.id),
    records.map(({ delivery }) => delivery.round),
    records.map(({ delivery }) => delivery.attemptCount + 1),
  ];
}
