import { Injectable } from '@nestjs/common';
import { Database, Reader } from '../../database/database';
import { Pipelined, Transaction } from '../../database/transaction';
import type { AttemptError, AttemptOutcome, AttemptPhases } from '../sending/attempt-outcome';
import { ErasedMessages } from '../../stored-data/table-declaration';
import { AttemptRecord } from './delivery';
import { firstIdOf, lastIdOf } from './delivery';
import { PendingDelivery } from './pending-deliveries.repository';

export interface FinishedRound {
  id: string;
  round: number;
  status: 'SUCCEEDED' | 'EXHAUSTED' | 'CANCELLED';
}

type WithOutcome = AttemptRecord & { outcome: AttemptOutcome };

const ATTEMPT_COLUMNS = `attempted_at, duration_ms, status_code, error, error_message, response, lookup_ms, connect_ms,
  tls_ms, first_byte_ms, response_headers`;
const ATTEMPT_VALUES = `$1::timestamptz[], $2::integer[], $3::smallint[], $4::text[], $5::text[], $6::bytea[], $7::real[],
  $8::real[], $9::real[], $10::real[], $11::text[]`;

/** Number of deliveries that one statement of an erasure changes. */
const MAX_ERASED = 1_000;
const NO_ANSWER = 'response = NULL, response_headers = NULL, error_message = NULL';
const HAS_ANSWER = '(response IS NOT NULL OR response_headers IS NOT NULL OR error_message IS NOT NULL)';

/** Attempt of a delivery, with its outcome. */
export interface AttemptRow extends AttemptPhases {
  deliveryId: string;
  attemptedAt: Date;
  durationMs: number;
  statusCode: number | null;
  error: AttemptError | null;
  errorMessage: string | null;
  /** First 16 KiB of the response body, as bytes, because PostgreSQL rejects a NUL in text. */
  response: Buffer | null;
  responseHeaders: string | null;
}

/**
 * Stores the history: a row of `webhook_deliveries` for each finished round, with its last attempt, and a row
 * of `webhook_attempts` for each attempt before it. Rows are written once; only an erasure removes answers
 * from them.
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
       FROM unnest(${ATTEMPT_VALUES}, $12::uuid[], $13::uuid[], $14::smallint[], $15::smallint[], $16::uuid[],
                   $17::uuid[], $18::text[], $19::text[])
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
       FROM unnest(${ATTEMPT_VALUES}, $12::uuid[], $13::uuid[], $14::smallint[], $15::smallint[])
         AS o (${ATTEMPT_COLUMNS}, tenant_id, delivery_id, round, attempt)
       ON CONFLICT (tenant_id, delivery_id, round, attempt) DO NOTHING`,
      attemptColumns(records),
    );
  }

  /** Inserts rounds that end without a further attempt, each with the failure of its last attempt. */
  insertCancelledPipelined(tx: Transaction, deliveries: PendingDelivery[]): Pipelined {
    return tx.pipeline(
      `INSERT INTO webhook_deliveries
         (tenant_id, id, round, endpoint_id, event_id, event_type, status, attempt_count, finished_at, status_code, error)
       SELECT tenant_id, id, round, endpoint_id, event_id, event_type, 'CANCELLED', attempt_count, now(), status_code, error
       FROM unnest($1::uuid[], $2::uuid[], $3::smallint[], $4::uuid[], $5::uuid[], $6::text[], $7::smallint[],
                   $8::smallint[], $9::text[])
         AS d (tenant_id, id, round, endpoint_id, event_id, event_type, attempt_count, status_code, error)
       ON CONFLICT (tenant_id, id, round) DO NOTHING`,
      [
        deliveries.map(({ tenantId }) => tenantId),
        deliveries.map(({ id }) => id),
        deliveries.map(({ round }) => round),
        deliveries.map(({ endpointId }) => endpointId),
        deliveries.map(({ eventId }) => eventId),
        deliveries.map(({ eventType }) => eventType),
        deliveries.map(({ attemptCount }) => attemptCount),
        deliveries.map(({ lastStatusCode }) => lastStatusCode),
        deliveries.map(({ lastError }) => lastError),
      ],
    );
  }

  /**
   * Returns the attempts of deliveries, of all rounds, oldest first. It reads the receivers' responses only
   * if it is asked for a single delivery.
   */
  async listAttempts(tenantId: string, ids: string[]): Promise<AttemptRow[]> {
    const columns = `attempted_at AS "attemptedAt", duration_ms AS "durationMs", status_code AS "statusCode", error,
      error_message AS "errorMessage", lookup_ms AS "lookupMs", connect_ms AS "connectMs", tls_ms AS "tlsMs",
      first_byte_ms AS "firstByteMs",
      ${ids.length === 1 ? 'response, response_headers' : 'NULL AS response, NULL'} AS "responseHeaders"`;
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

  /** Returns the latest finished round of each delivery that has one. */
  findLatestRounds(reader: Reader, tenantId: string, ids: string[]): Promise<FinishedRound[]> {
    return reader.prepared(
      `SELECT DISTINCT ON (id) id, round, status FROM webhook_deliveries
       WHERE tenant_id = $1 AND id = ANY ($2) ORDER BY id, round DESC`,
      [tenantId, ids],
    );
  }

  /**
   * Erases the answers of receivers to deliveries of events, because they may repeat what was sent, or tell
   * of the contact. The bounds of the ids exclude nothing; they keep PostgreSQL from reading a whole day for
   * which it has no statistics yet.
   */
  async eraseAnswers(tx: Transaction, { tenantId, eventIds }: ErasedMessages): Promise<void> {
    if (eventIds.length === 0) return;
    const deliveryIds = await this.findByEvents(tx, tenantId, eventIds);
    for (let n = 0; n < deliveryIds.length; n += MAX_ERASED) {
      const ids = deliveryIds.slice(n, n + MAX_ERASED).sort();
      const parameters = [tenantId, ids, ids[0], ids.at(-1)];
      await tx.query(
        `UPDATE webhook_deliveries SET ${NO_ANSWER}
         WHERE tenant_id = $1 AND id >= $3 AND id <= $4 AND id = ANY ($2) AND ${HAS_ANSWER}`,
        parameters,
      );
      await tx.query(
        `UPDATE webhook_attempts SET ${NO_ANSWER}
         WHERE tenant_id = $1 AND delivery_id >= $3 AND delivery_id <= $4 AND delivery_id = ANY ($2) AND ${HAS_ANSWER}`,
        parameters,
      );
    }
  }

  /** Finds the deliveries of events to all present and former endpoints, by ranges of the primary key. */
  private async findByEvents(tx: Transaction, tenantId: string, eventIds: string[]): Promise<string[]> {
    const first = [...new Set(eventIds.map(firstIdOf))];
    const last = [...new Set(eventIds.map(lastIdOf))];
    const inRange = 'tenant_id = $1 AND id >= m.first AND id <= m.last AND event_id = ANY ($4)';
    const rows = await tx.query<{ id: string }>(
      `SELECT d.id FROM unnest($2::uuid[], $3::uuid[]) AS m (first, last), LATERAL (
         SELECT id FROM webhook_deliveries WHERE ${inRange} UNION SELECT id FROM pending_deliveries WHERE ${inRange}) AS d`,
      [tenantId, first, last, eventIds],
    );
    return rows.map(({ id }) => id);
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
    records.map(({ outcome }) => outcome.responseHeaders),
    records.map(({ delivery }) => delivery.endpoint.tenantId),
    records.map(({ delivery }) => delivery.id),
    records.map(({ delivery }) => delivery.round),
    records.map(({ delivery }) => delivery.attemptCount + 1),
  ];
}
