import { Injectable } from '@nestjs/common';
import type { Reader } from '../../database/database';
import { Parameters } from '../../database/parameters';
import type { AttemptError } from '../sending/attempt-outcome';
import { boundsOf, conditionsOf, DeliveryFilter, StatusCodes } from './delivery-filter';
import { DeliveryRow, LookedAt, SearchStep, toStep, WebhookDeliveryStatus } from './delivery-row';

/** Searches the finished deliveries: each with its latest round, unless it is pending again. */
@Injectable()
export class HistorySearchRepository {
  /** Looks at the next `size` rows of the part of the table that an index finds for the filter. */
  async searchHistory(
    reader: Reader,
    tenantId: string,
    filter: DeliveryFilter,
    size: number,
  ): Promise<SearchStep> {
    if (!canFit(filter)) return { rows: [], next: null };
    const parameters = new Parameters();
    const where = [
      `d.tenant_id = ${parameters.bind(tenantId)}`,
      ...partOf(filter, parameters),
      ...boundsOf(filter, 'd', parameters),
    ];
    const step = `SELECT d.id FROM webhook_deliveries d WHERE ${where.join(' AND ')} ORDER BY d.id DESC LIMIT ${size}`;
    return toStep(await this.readLatestRounds(reader, step, filter, parameters), size);
  }

  /** Returns the deliveries of these ids that are finished and pass the filter. */
  async findMany(
    reader: Reader,
    tenantId: string,
    ids: string[],
    filter: DeliveryFilter,
  ): Promise<DeliveryRow[]> {
    if (!canFit(filter) || ids.length === 0) return [];
    const parameters = new Parameters();
    parameters.bind(tenantId);
    const step = `SELECT DISTINCT id FROM unnest(${parameters.bind(ids)}::uuid[]) AS id`;
    return toStep(await this.readLatestRounds(reader, step, filter, parameters), 0).rows;
  }

  /** Returns every row of a step with its latest round, and whether that passes the filter. */
  private readLatestRounds(
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
      ...(filter.statuses ? [`d.status = ANY (${parameters.bind(filter.statuses)})`] : []),
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
}

/** Reports whether a delivery that is not pending can pass the filter. */
function canFit({ statuses }: DeliveryFilter): boolean {
  return statuses === undefined || statuses.some((status) => status !== 'PENDING');
}

const UNDELIVERED: WebhookDeliveryStatus[] = ['EXHAUSTED', 'CANCELLED'];

/**
 * Returns the conditions of a filter for which an index has the order of the list. Every row that passes the
 * filter meets them.
 */
function partOf(filter: DeliveryFilter, parameters: Parameters): string[] {
  const { endpointId, statuses = [], statusCodes } = filter;
  if (endpointId === undefined) return [];
  const endpoint = `d.endpoint_id = ${parameters.bind(endpointId)}`;
  const error = filter.error ?? (statusCodes && errorOf(statusCodes));
  if (error && statusCodes && statusCodes.from === statusCodes.to)
    return [endpoint, 'd.error IS NOT NULL', `d.status_code = ${parameters.bind(statusCodes.from)}`];
  if (error) return [endpoint, `d.error = ${parameters.bind(error)}`];
  const [status] = statuses;
  if (statuses.length === 1 && UNDELIVERED.includes(status!))
    return [endpoint, `d.status = ${parameters.bind(status)}`];
  return [endpoint];
}

/** Returns the error that an attempt has if its response had such an HTTP status; null for a success. */
function errorOf({ from, to }: StatusCodes): AttemptError | null {
  if (from >= 400) return 'status';
  return from >= 300 && to < 400 ? 'redirect' : null;
}
