import { Injectable } from '@nestjs/common';
import type { Reader } from '../../database/database';
import { Parameters } from '../../database/parameters';
import { FIRST } from '../deliveries/pending-deliveries.repository';
import { IS_OWED } from '../endpoints/subscription';
import type { AttemptError } from '../sending/attempt-outcome';
import { boundsOf, conditionsOf, DeliveryFilter, StatusCodes } from './delivery-filter';
import { DeliveryRow, LookedAt, SearchStep, toStep, WebhookDeliveryStatus } from './delivery-row';

const KEYS = `p.id, p.endpoint_id AS "endpointId", p.event_id AS "eventId", p.event_type AS "eventType", p.round`;
const SEEN = '(SELECT count(*)::integer FROM step) AS seen';
const OF_PENDING: WebhookDeliveryStatus[] = ['PENDING', 'CANCELLED'];
const UNDELIVERED: WebhookDeliveryStatus[] = ['EXHAUSTED', 'CANCELLED'];
const OF_HISTORY: WebhookDeliveryStatus[] = ['SUCCEEDED', ...UNDELIVERED];

interface Look {
  reader: Reader;
  tenantId: string;
  filter: DeliveryFilter;
  size: number;
}

/** Returns the SQL for the rows to be read, and binds its parameters. `$1` is the workspace's id. */
type StepOf = (parameters: Parameters) => string;

@Injectable()
export class DeliverySearchRepository {
  /** Reads the next `size` pending deliveries, newest first, and returns those that pass the filter. */
  searchPending(reader: Reader, tenantId: string, filter: DeliveryFilter, size: number): Promise<SearchStep> {
    return this.lookAtPending({ reader, tenantId, filter, size }, (parameters) => {
      const where = ['p.tenant_id = $1', ...boundsOf(filter, parameters)];
      return `SELECT p.* FROM pending_deliveries p WHERE ${where.join(' AND ')} ORDER BY p.id DESC LIMIT ${size}`;
    });
  }

  /** Reads the next `size` rows of the history, newest first, and returns those that pass the filter. */
  searchHistory(reader: Reader, tenantId: string, filter: DeliveryFilter, size: number): Promise<SearchStep> {
    return this.lookAtHistory({ reader, tenantId, filter, size }, (parameters) => {
      const where = ['p.tenant_id = $1', ...partOf(filter, parameters), ...boundsOf(filter, parameters)];
      return `SELECT p.id FROM webhook_deliveries p WHERE ${where.join(' AND ')} ORDER BY p.id DESC LIMIT ${size}`;
    });
  }

  /** Returns the given deliveries that pass the filter. One that ends meanwhile may be returned twice. */
  async findMany(
    reader: Reader,
    tenantId: string,
    ids: string[],
    filter: DeliveryFilter,
  ): Promise<DeliveryRow[]> {
    if (ids.length === 0) return [];
    const look = { reader, tenantId, filter, size: ids.length };
    const pending = await this.lookAtPending(
      look,
      (parameters) =>
        `SELECT p.* FROM pending_deliveries p WHERE p.tenant_id = $1 AND p.id = ANY (${parameters.bind(ids)})`,
    );
    const finished = await this.lookAtHistory(
      look,
      (parameters) => `SELECT DISTINCT id FROM unnest(${parameters.bind(ids)}::uuid[]) AS id`,
    );
    return [...pending.rows, ...finished.rows];
  }

  /** Reads pending deliveries. The status is CANCELLED for those that may not be sent any more. */
  private async lookAtPending({ reader, tenantId, filter, size }: Look, stepOf: StepOf): Promise<SearchStep> {
    if (!mayHave(filter, OF_PENDING)) return { rows: [], next: null };
    const parameters = new Parameters();
    parameters.bind(tenantId);
    const step = stepOf(parameters);
    const fits = ['true', ...conditionsOf(filter, ['last_status_code', 'last_error'], parameters)];
    if (filter.statuses?.includes('CANCELLED') === false) fits.push(IS_OWED);
    if (filter.statuses?.includes('PENDING') === false) fits.push(`(${IS_OWED}) IS NOT TRUE`);
    const lookedAt = await reader.query<LookedAt>(
      `WITH step AS (${step})
       SELECT ${KEYS}, CASE WHEN ${IS_OWED} THEN 'PENDING' ELSE 'CANCELLED' END AS status,
              CASE WHEN ${IS_OWED} AND p.lease_id IS NULL THEN
                CASE WHEN p.next_attempt_at > ${FIRST} THEN p.next_attempt_at ELSE now() END END AS "nextAttemptAt",
              coalesce(${fits.join(' AND ')}, false) AS fits, ${SEEN}
       FROM step p LEFT JOIN webhook_endpoints w ON w.tenant_id = $1 AND w.id = p.endpoint_id
       ORDER BY p.id DESC`,
      parameters.values,
    );
    return toStep(lookedAt, size);
  }

  /** Reads finished deliveries with their latest results. Leaves out those that are pending again. */
  private async lookAtHistory({ reader, tenantId, filter, size }: Look, stepOf: StepOf): Promise<SearchStep> {
    if (!mayHave(filter, OF_HISTORY)) return { rows: [], next: null };
    const parameters = new Parameters();
    parameters.bind(tenantId);
    const step = stepOf(parameters);
    const fits = ['again.id IS NULL', ...conditionsOf(filter, ['status_code', 'error'], parameters)];
    if (filter.statuses) fits.push(`p.status = ANY (${parameters.bind(filter.statuses)})`);
    const lookedAt = await reader.query<LookedAt>(
      `WITH step AS (${step})
       SELECT ${KEYS}, p.status, NULL AS "nextAttemptAt", coalesce(${fits.join(' AND ')}, false) AS fits, ${SEEN}
       FROM (SELECT DISTINCT id FROM step) AS s
       CROSS JOIN LATERAL (
         SELECT * FROM webhook_deliveries d WHERE d.tenant_id = $1 AND d.id = s.id ORDER BY d.round DESC LIMIT 1) AS p
       LEFT JOIN LATERAL (
         SELECT q.id FROM pending_deliveries q WHERE q.tenant_id = $1 AND q.id = s.id LIMIT 1) AS again ON true
       ORDER BY p.id DESC`,
      parameters.values,
    );
    return toStep(lookedAt, size);
  }
}

function mayHave({ statuses }: DeliveryFilter, some: WebhookDeliveryStatus[]): boolean {
  return statuses === undefined || statuses.some((status) => some.includes(status));
}

/**
 * Returns SQL conditions for which an index has the rows in the order of the list. Every row that passes the
 * filter meets them, but so may other rows.
 */
function partOf(filter: DeliveryFilter, parameters: Parameters): string[] {
  const { endpointId, statuses = [], statusCodes } = filter;
  if (endpointId === undefined) return [];
  const endpoint = `p.endpoint_id = ${parameters.bind(endpointId)}`;
  const error = filter.error ?? (statusCodes && errorOf(statusCodes));
  if (error && statusCodes && statusCodes.from === statusCodes.to)
    return [endpoint, 'p.error IS NOT NULL', `p.status_code = ${parameters.bind(statusCodes.from)}`];
  if (error) return [endpoint, `p.error = ${parameters.bind(error)}`];
  const [status] = statuses;
  if (statuses.length === 1 && UNDELIVERED.includes(status!))
    return [endpoint, `p.status = ${parameters.bind(status)}`];
  return [endpoint];
}

/** Returns the error class that all attempts with a status in this range have; null if it differs. */
function errorOf({ from, to }: StatusCodes): AttemptError | null {
  if (from >= 400) return 'status';
  return from >= 300 && to < 400 ? 'redirect' : null;
}
