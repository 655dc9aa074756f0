import { Injectable } from '@nestjs/common';
import { Database, Reader } from '../../database/database';
import { Pipelined, Transaction } from '../../database/transaction';
import type { AttemptError, AttemptOutcome, AttemptPhases } from '../sending/attempt-outcome';
import { AttemptRecord } from './delivery';
import { firstIdOf, lastIdOf } from './delivery-id';
import {
  boundsOf,
  conditionsOf,
  DeliveryFilter,
  DeliveryRow,
  LookedAt,
  Parameters,
  SearchStep,
  StatusCodes,
  StatusCount,
  toStep,
  WebhookDeliveryStatus,
} from './delivery-filter';
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
  responseHeaders: string | null;
}

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

  /** Inserts rounds that end without a further attempt, each with how its last one failed. */
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
   * Looks at the next `size` rows of the part of the table that an index has for the filter. Not those that are pending
   * again.
   */
  async step(reader: Reader, tenantId: string, filter: DeliveryFilter, size: number): Promise<SearchStep> {
    if (!canFit(filter)) return { rows: [], next: null };
    const parameters = new Parameters();
    const where = [
      `d.tenant_id = ${parameters.add(tenantId)}`,
      ...partOf(filter, parameters),
      ...boundsOf(filter, 'd', parameters),
    ];
    const step = `SELECT d.id FROM webhook_deliveries d WHERE ${where.join(' AND ')} ORDER BY d.id DESC LIMIT ${size}`;
    return toStep(await this.latest(reader, step, filter, parameters), size);
  }

  /** The same among deliveries, by their ids. */
  async among(
    reader: Reader,
    tenantId: string,
    ids: string[],
    filter: DeliveryFilter,
  ): Promise<DeliveryRow[]> {
    if (!canFit(filter) || ids.length === 0) return [];
    const parameters = new Parameters();
    parameters.add(tenantId);
    const step = `SELECT DISTINCT id FROM unnest(${parameters.add(ids)}::uuid[]) AS id`;
    return toStep(await this.latest(reader, step, filter, parameters), 0).rows;
  }

  /** Those of events, by the events' ids: a delivery's id begins with the millisecond of its event's. */
  async ofEvents(reader: Reader, tenantId: string, eventIds: string[]): Promise<string[]> {
    const rows = await reader.query<{ id: string }>(
      `SELECT d.id FROM unnest($2::uuid[], $3::uuid[], $4::uuid[]) AS e (id, first, last), LATERAL (
         SELECT id FROM webhook_deliveries
         WHERE tenant_id = $1 AND id >= e.first AND id <= e.last AND event_id = e.id
         UNION
         SELECT id FROM pending_deliveries
         WHERE tenant_id = $1 AND id >= e.first AND id <= e.last AND event_id = e.id) AS d`,
      [tenantId, eventIds, eventIds.map(firstIdOf), eventIds.map(lastIdOf)],
    );
    return rows.map(({ id }) => id);
  }

  /** Every row of a step with its latest round, and whether that fits. */
  private latest(
    reader: Reader,
    step: string,
    filter: DeliveryFilter,
    parameters: Parameters,
  ): Promise<LookedAt[]> {
    const outcome = { statusCode: 'status_code', error: 'error' };
    const fits = [
      'p.id IS NULL',
      ...conditionsOf(filter, 'd', outcome, parameters),
      ...boundsOf(filter, 'd', parameters),
      ...(filter.statuses ? [`d.status = ANY (${parameters.add(filter.statuses)})`] : []),
    ];
    return reader.query<LookedAt>(
      `WITH step AS (${step})
       SELECT d.id, d.endpoint_id AS "endpointId", d.event_id AS "eventId", d.event_type AS "eventType", d.round, d.status,
              NULL AS "nextAttemptAt", coalesce(${fits.join(' AND ')}, false) AS fits,
              (SELECT count(*)::integer FROM step) AS seen
       FROM (SELECT DISTINCT id FROM step) AS s
       CROSS JOIN LATERAL (
         SELECT * FROM webhook_deliveries d WHERE d.tenant_id = $1 AND d.id = s.id ORDER BY d.round DESC LIMIT 1) AS d
       LEFT JOIN LATERAL (
         SELECT p.id FROM pending_deliveries p WHERE p.tenant_id = $1 AND p.id = s.id LIMIT 1) AS p ON true
       ORDER BY d.id DESC`,
      parameters.values,
    );
  }

  async find(reader: Reader, tenantId: string, id: string): Promise<DeliveryRow | null> {
    const [row] = await this.among(reader, tenantId, [id], {});
    return row ?? null;
  }

  /** Of an endpoint, but for tests. */
  async countByStatus(tenantId: string, endpointId: string, since: string): Promise<StatusCount[]> {
    return this.database.query(
      `SELECT d.status, count(*)::integer AS count FROM webhook_deliveries d
       WHERE d.tenant_id = $1 AND d.endpoint_id = $2 AND d.id >= $3 AND d.event_type <> 'webhook.test'
         AND NOT EXISTS (
           SELECT FROM webhook_deliveries l WHERE l.tenant_id = $1 AND l.id = d.id AND l.round > d.round)
         AND NOT EXISTS (SELECT FROM pending_deliveries p WHERE p.tenant_id = $1 AND p.id = d.id)
       GROUP BY d.status`,
      [tenantId, endpointId, since],
    );
  }

  /** The attempts of deliveries, of all rounds, oldest first. The answers only for one delivery. */
  async attemptsOf(tenantId: string, ids: string[]): Promise<AttemptRow[]> {
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

  /** The latest finished round of each delivery that has one. */
  latestRounds(reader: Reader, tenantId: string, ids: string[]): Promise<FinishedRound[]> {
    return reader.prepared(
      `SELECT DISTINCT ON (id) id, round, status FROM webhook_deliveries
       WHERE tenant_id = $1 AND id = ANY ($2) ORDER BY id, round DESC`,
      [tenantId, ids],
    );
  }
}

/** Whether anything that is not pending can. */
function canFit({ statuses }: DeliveryFilter): boolean {
  return statuses === undefined || statuses.some((status) => status !== 'PENDING');
}

const UNDELIVERED: WebhookDeliveryStatus[] = ['EXHAUSTED', 'CANCELLED'];

/** The part of the table that holds what a filter can fit, and that an index has in the order of the list. */
function partOf(filter: DeliveryFilter, parameters: Parameters): string[] {
  const { endpointId, statuses = [], statusCodes } = filter;
  if (endpointId === undefined) return [];
  const endpoint = `d.endpoint_id = ${parameters.add(endpointId)}`;
  const error = filter.error ?? (statusCodes && errorOf(statusCodes));
  if (error && statusCodes && statusCodes.from === statusCodes.to)
    return [endpoint, 'd.error IS NOT NULL', `d.status_code = ${parameters.add(statusCodes.from)}`];
  if (error) return [endpoint, `d.error = ${parameters.add(error)}`];
  const [status] = statuses;
  if (statuses.length === 1 && UNDELIVERED.includes(status!))
    return [endpoint, `d.status = ${parameters.add(status)}`];
  return [endpoint];
}

/** The error that an attempt with such a status has; null for a success. */
function errorOf({ from, to }: StatusCodes): AttemptError | null {
  if (from >= 400) return 'status';
  return from >= 300 && to < 400 ? 'redirect' : null;
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
