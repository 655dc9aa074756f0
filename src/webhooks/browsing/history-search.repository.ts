import { Injectable } from '@nestjs/common';
import { Database, Reader } from '../../database/database';
import { TEST_TYPES } from '../../outbox/event-catalog';
import type { AttemptError } from '../sending/attempt-outcome';
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
import { firstIdOf, lastIdOf } from '../deliveries/delivery-id';

/** The finished deliveries as lists show them: each with its latest round, unless it is pending again. */
@Injectable()
export class HistorySearchRepository {
  constructor(private readonly database: Database) {}

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

  /** Counts an endpoint's finished deliveries by status, tests excluded. */
  async countByStatus(tenantId: string, endpointId: string, since: string): Promise<StatusCount[]> {
    return this.database.query(
      `SELECT d.status, count(*)::integer AS count FROM webhook_deliveries d
       WHERE d.tenant_id = $1 AND d.endpoint_id = $2 AND d.id >= $3 AND d.event_type <> ALL ($4)
         AND NOT EXISTS (
           SELECT FROM webhook_deliveries l WHERE l.tenant_id = $1 AND l.id = d.id AND l.round > d.round)
         AND NOT EXISTS (SELECT FROM pending_deliveries p WHERE p.tenant_id = $1 AND p.id = d.id)
       GROUP BY d.status`,
      [tenantId, endpointId, since, TEST_TYPES],
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
