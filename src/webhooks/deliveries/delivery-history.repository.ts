import { Injectable } from '@nestjs/common';
import { Database, Reader } from '../../database/database';
import { columnNamesOf, columnsOf, InsertedColumn, rowsToInsert } from '../../database/rows-to-insert';
import { Transaction } from '../../database/transaction';
import type { AttemptOutcome, AttemptPhases } from '../sending/attempt-outcome';
import { ErasedMessages } from '../../database/tables/table-declaration';
import { AttemptRecord, firstIdOf, lastIdOf, PendingDelivery } from './delivery';

export interface FinishedRound {
  id: string;
  round: number;
  status: 'SUCCEEDED' | 'EXHAUSTED' | 'CANCELLED';
}

type WithOutcome = AttemptRecord & { outcome: AttemptOutcome };

const MAX_ERASED = 1_000;
const NO_ANSWER = 'response = NULL, response_headers = NULL, error_message = NULL';
const HAS_ANSWER = '(response IS NOT NULL OR response_headers IS NOT NULL OR error_message IS NOT NULL)';

/** Attempt of a delivery. Its response is bytes, because text in PostgreSQL cannot contain a NUL. */
export type AttemptRow = AttemptPhases &
  Pick<
    AttemptOutcome,
    'durationMs' | 'statusCode' | 'error' | 'errorMessage' | 'response' | 'responseHeaders'
  > & { deliveryId: string; attemptedAt: Date };

/**
 * Stores the history. A round is a delivery or redelivery with all its attempts. Each finished round has a
 * row in `webhook_deliveries`, which includes the last attempt. Each earlier attempt has a row in
 * `webhook_attempts`. Rows never change, except that an erasure removes the receivers' answers.
 */
@Injectable()
export class DeliveryHistoryRepository {
  constructor(private readonly database: Database) {}

  insertFinishedPipelined(tx: Transaction, records: WithOutcome[]): void {
    this.insertRoundsPipelined(tx, [
      ...columnsOf(records, {
        tenant_id: ['uuid', ({ delivery }) => delivery.endpoint.tenantId],
        id: ['uuid', ({ delivery }) => delivery.id],
        round: ['smallint', ({ delivery }) => delivery.round],
        endpoint_id: ['uuid', ({ delivery }) => delivery.endpoint.id],
        event_id: ['uuid', ({ delivery }) => delivery.event.id],
        event_type: ['text', ({ delivery }) => delivery.event.type],
        status: ['text', ({ status }) => status],
        attempt_count: ['smallint', ({ delivery }) => delivery.attemptCount + 1],
      }),
      ...attemptColumns(records),
    ]);
  }

  /** Inserts failed attempts that a retry will follow. */
  insertAttemptsPipelined(tx: Transaction, records: WithOutcome[]): void {
    const columns = [
      ...columnsOf(records, {
        tenant_id: ['uuid', ({ delivery }) => delivery.endpoint.tenantId],
        delivery_id: ['uuid', ({ delivery }) => delivery.id],
        round: ['smallint', ({ delivery }) => delivery.round],
        attempt: ['smallint', ({ delivery }) => delivery.attemptCount + 1],
      }),
      ...attemptColumns(records),
    ];
    for (const { rows, parameters } of rowsToInsert(columns, this.database))
      tx.pipeline(
        `INSERT INTO webhook_attempts (${columnNamesOf(columns)}) ${rows}
         ON CONFLICT (tenant_id, delivery_id, round, attempt) DO NOTHING`,
        parameters,
      );
  }

  /** Inserts cancelled deliveries, each with the HTTP status and the error of its last attempt. */
  insertCancelledPipelined(tx: Transaction, deliveries: PendingDelivery[]): void {
    const columns = columnsOf(deliveries, {
      tenant_id: ['uuid', ({ tenantId }) => tenantId],
      id: ['uuid', ({ id }) => id],
      round: ['smallint', ({ round }) => round],
      endpoint_id: ['uuid', ({ endpointId }) => endpointId],
      event_id: ['uuid', ({ eventId }) => eventId],
      event_type: ['text', ({ eventType }) => eventType],
      status: ['text', () => 'CANCELLED'],
      attempt_count: ['smallint', ({ attemptCount }) => attemptCount],
      status_code: ['smallint', ({ lastStatusCode }) => lastStatusCode],
      error: ['text', ({ lastError }) => lastError],
    });
    this.insertRoundsPipelined(tx, columns);
  }

  /**
   * Returns all attempts of deliveries, ordered by delivery, round and attempt. It reads the receivers'
   * responses only if `ids` has one id.
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

  findLatestRounds(
    reader: Reader,
    tenantId: string,
    ids: string[],
  ): Promise<(FinishedRound & { finishedAt: Date })[]> {
    return reader.prepared(
      `SELECT DISTINCT ON (id) id, round, status, finished_at AS "finishedAt" FROM webhook_deliveries
       WHERE tenant_id = $1 AND id = ANY ($2) ORDER BY id, round DESC`,
      [tenantId, ids],
    );
  }

  /** Returns the given ids whose delivery has a row, because it is pending or finished. */
  async filterRecorded(reader: Reader, tenantId: string, ids: string[]): Promise<Set<string>> {
    const rows = await reader.prepared<{ id: string }>(
      `SELECT id FROM pending_deliveries WHERE tenant_id = $1 AND id = ANY ($2)
       UNION SELECT id FROM webhook_deliveries WHERE tenant_id = $1 AND id = ANY ($2)`,
      [tenantId, ids],
    );
    return new Set(rows.map(({ id }) => id));
  }

  /**
   * Returns the ids of the events' pending and finished deliveries. It reads ranges of ids, because the index
   * is by id, and a delivery's id begins with the millisecond of its event.
   */
  async listIdsOfEvents(reader: Reader, tenantId: string, eventIds: string[]): Promise<string[]> {
    const inRange = 'tenant_id = $1 AND id >= e.first AND id <= e.last AND event_id = e.id';
    const rows = await reader.query<{ id: string }>(
      `SELECT d.id FROM unnest($2::uuid[], $3::uuid[], $4::uuid[]) AS e (id, first, last), LATERAL (
         SELECT id FROM webhook_deliveries WHERE ${inRange} UNION SELECT id FROM pending_deliveries WHERE ${inRange}) AS d`,
      [tenantId, eventIds, eventIds.map(firstIdOf), eventIds.map(lastIdOf)],
    );
    return rows.map(({ id }) => id);
  }

  /**
   * Erases the receivers' answers to deliveries of these events, because an answer may repeat the sent data.
   * The statements also give the lowest and highest id, because PostgreSQL may otherwise read a whole day's
   * partition for which it has no statistics yet.
   */
  async eraseAnswers(tx: Transaction, { tenantId, eventIds }: ErasedMessages): Promise<void> {
    if (eventIds.length === 0) return;
    const deliveryIds = await this.listIdsOfEvents(tx, tenantId, eventIds);
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

  private insertRoundsPipelined(tx: Transaction, listed: InsertedColumn[]): void {
    const columns = [...listed, { name: 'finished_at', sql: 'now()' }];
    for (const { rows, parameters } of rowsToInsert(columns, this.database))
      tx.pipeline(
        `INSERT INTO webhook_deliveries (${columnNamesOf(columns)}) ${rows} ON CONFLICT (tenant_id, id, round) DO NOTHING`,
        parameters,
      );
  }
}

function attemptColumns(records: WithOutcome[]): InsertedColumn[] {
  return columnsOf(records, {
    attempted_at: ['timestamptz', ({ outcome }) => outcome.at],
    duration_ms: ['integer', ({ outcome }) => Math.round(outcome.durationMs)],
    status_code: ['smallint', ({ outcome }) => outcome.statusCode],
    error: ['text', ({ outcome }) => outcome.error],
    error_message: ['text', ({ outcome }) => outcome.errorMessage],
    response: ['bytea', ({ outcome }) => outcome.response],
    lookup_ms: ['real', ({ outcome }) => outcome.phases.lookupMs],
    connect_ms: ['real', ({ outcome }) => outcome.phases.connectMs],
    tls_ms: ['real', ({ outcome }) => outcome.phases.tlsMs],
    first_byte_ms: ['real', ({ outcome }) => outcome.phases.firstByteMs],
    response_headers: ['text', ({ outcome }) => outcome.responseHeaders],
  });
}
