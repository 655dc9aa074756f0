import { idFloor } from '../../common/ids';
import type { Parameters } from '../../database/parameters';
import type { AttemptError } from '../sending/attempt-outcome';
import type { DeliveryRow, WebhookDeliveryStatus } from './delivery-row';

/** Range of HTTP statuses with both ends: one status, or a class of them. */
export interface StatusCodes {
  from: number;
  to: number;
}

/** Filter of deliveries. A delivery must pass every condition that is given. */
export interface DeliveryFilter {
  endpointId?: string;
  event?: string;
  statuses?: WebhookDeliveryStatus[];
  /** Status of the answer to the last attempt of the latest round. */
  statusCodes?: StatusCodes;
  /** Failure of the last attempt of the latest round. */
  error?: AttemptError;
  /** Conversation that the event is about. */
  conversationId?: string;
  messageId?: string;
  since?: Date;
  until?: Date;
  cursor?: string;
}

/**
 * Returns the SQL conditions of a filter on the delivery `p`. Status differs from table to table, and
 * conversations are found through the events, so neither is among the conditions.
 * @param columns of the status code and the error of the delivery's last attempt
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

/** Returns the SQL conditions of a filter on time and cursor, which bound the id: ids are ordered by time. */
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
