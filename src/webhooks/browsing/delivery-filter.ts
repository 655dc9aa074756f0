import { idFloor } from '../../common/ids';
import type { Parameters } from '../../database/parameters';
import type { AttemptError } from '../sending/attempt-outcome';
import type { DeliveryRow, WebhookDeliveryStatus } from './delivery-row';

/** Range of HTTP statuses, both ends included. */
export interface StatusCodes {
  from: number;
  to: number;
}

export interface DeliveryFilter {
  endpointId?: string;
  event?: string;
  statuses?: WebhookDeliveryStatus[];
  /** Range of the last attempt's HTTP status. Attempts before the latest redelivery do not count. */
  statusCodes?: StatusCodes;
  /** Error of the last attempt. Attempts before the latest redelivery do not count. */
  error?: AttemptError;
  conversationId?: string;
  messageId?: string;
  since?: Date;
  until?: Date;
  cursor?: string;
}

/**
 * Returns a filter's SQL conditions on the row `p` of a delivery. The caller must check status, conversation
 * and message itself: the status differs between tables, and the other two are in the event.
 */
export function conditionsOf(
  filter: DeliveryFilter,
  [statusCode, errorColumn]: [statusCode: string, error: string],
  parameters: Parameters,
): string[] {
  const { endpointId, event, statusCodes, error } = filter;
  const conditions = boundsOf(filter, parameters);
  if (endpointId !== undefined) conditions.push(`p.endpoint_id = ${parameters.bind(endpointId)}`);
  if (event !== undefined) conditions.push(`p.event_type = ${parameters.bind(event)}`);
  if (error !== undefined) conditions.push(`p.${errorColumn} = ${parameters.bind(error)}`);
  if (statusCodes) {
    const [from, to] = [parameters.bind(statusCodes.from), parameters.bind(statusCodes.to)];
    conditions.push(`p.${statusCode} BETWEEN ${from} AND ${to}`);
  }
  return conditions;
}

/** Returns the SQL conditions on time and cursor. They compare the id, because ids are ordered by time. */
export function boundsOf({ since, until, cursor }: DeliveryFilter, parameters: Parameters): string[] {
  const conditions: string[] = [];
  if (since) conditions.push(`p.id >= ${parameters.bind(idFloor(since))}`);
  if (until) conditions.push(`p.id < ${parameters.bind(idFloor(until))}`);
  if (cursor !== undefined) conditions.push(`p.id < ${parameters.bind(cursor)}`);
  return conditions;
}

/** Reports whether a delivery that has no recorded attempt passes a filter. */
export function matchesUnattempted(row: DeliveryRow, filter: DeliveryFilter): boolean {
  const { endpointId, event, statuses, statusCodes, error, since, until, cursor } = filter;
  return (
    statusCodes === undefined &&
    error === undefined &&
    (endpointId === undefined || row.endpointId === endpointId) &&
    (event === undefined || row.eventType === event) &&
    (statuses === undefined || statuses.includes(row.status)) &&
    (since === undefined || row.id >= idFloor(since)) &&
    (until === undefined || row.id < idFloor(until)) &&
    (cursor === undefined || row.id < cursor)
  );
}
