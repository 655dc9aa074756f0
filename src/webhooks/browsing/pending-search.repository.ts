import { Injectable } from '@nestjs/common';
import type { Reader } from '../../database/database';
import { Parameters } from '../../database/parameters';
import { FIRST } from '../deliveries/pending-deliveries.repository';
import { IS_OWED } from '../endpoints/subscription';
import { boundsOf, conditionsOf, DeliveryFilter } from './delivery-filter';
import { DeliveryRow, LookedAt, SearchStep, toStep } from './delivery-row';

const LISTED = `p.id, p.endpoint_id AS "endpointId", p.event_id AS "eventId", p.event_type AS "eventType", p.round,
  CASE WHEN ${IS_OWED} THEN 'PENDING' ELSE 'CANCELLED' END AS status,
  CASE WHEN ${IS_OWED} AND p.lease_id IS NULL THEN
    CASE WHEN p.next_attempt_at > ${FIRST} THEN p.next_attempt_at ELSE now() END END AS "nextAttemptAt"`;

/** Searches the pending deliveries. Those that their endpoint is not owed any more are read as cancelled. */
@Injectable()
export class PendingSearchRepository {
  /** Looks at the workspace's next `size` rows, newest first. */
  async searchPending(
    reader: Reader,
    tenantId: string,
    filter: DeliveryFilter,
    size: number,
  ): Promise<SearchStep> {
    if (!canFit(filter)) return { rows: [], next: null };
    const parameters = new Parameters();
    const where = [`p.tenant_id = ${parameters.bind(tenantId)}`, ...boundsOf(filter, 'p', parameters)];
    const step = `SELECT p.* FROM pending_deliveries p WHERE ${where.join(' AND ')} ORDER BY p.id DESC LIMIT ${size}`;
    return toStep(await this.readRows(reader, step, filter, parameters), size);
  }

  /** Returns the deliveries of these ids that are pending and pass the filter. */
  async findMany(
    reader: Reader,
    tenantId: string,
    ids: string[],
    filter: DeliveryFilter,
  ): Promise<DeliveryRow[]> {
    if (!canFit(filter) || ids.length === 0) return [];
    const parameters = new Parameters();
    const step = `SELECT p.* FROM pending_deliveries p
      WHERE p.tenant_id = ${parameters.bind(tenantId)} AND p.id = ANY (${parameters.bind(ids)})`;
    return toStep(await this.readRows(reader, step, filter, parameters), 0).rows;
  }

  /** Returns every row of a step, and whether it passes the filter. */
  private readRows(
    reader: Reader,
    step: string,
    filter: DeliveryFilter,
    parameters: Parameters,
  ): Promise<LookedAt[]> {
    const { statuses } = filter;
    const fits = [
      'true',
      ...conditionsOf(filter, 'p', { statusCode: 'last_status_code', error: 'last_error' }, parameters),
      ...boundsOf(filter, 'p', parameters),
    ];
    if (statuses && !statuses.includes('CANCELLED')) fits.push(IS_OWED);
    if (statuses && !statuses.includes('PENDING')) fits.push(`(${IS_OWED}) IS NOT TRUE`);
    return reader.query<LookedAt>(
      `WITH step AS (${step})
       SELECT ${LISTED}, coalesce(${fits.join(' AND ')}, false) AS fits, (SELECT count(*)::integer FROM step) AS seen
       FROM step p LEFT JOIN webhook_endpoints w ON w.tenant_id = $1 AND w.id = p.endpoint_id
       ORDER BY p.id DESC`,
      parameters.values,
    );
  }
}

/** Reports whether a row of the pending deliveries can pass the filter. */
function canFit({ statuses }: DeliveryFilter): boolean {
  return statuses === undefined || statuses.some((status) => status === 'PENDING' || status === 'CANCELLED');
}
