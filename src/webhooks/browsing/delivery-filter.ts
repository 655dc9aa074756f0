import { idFloor } from '../../common/ids';
import type { AttemptError } from '../sending/attempt-outcome';

export type WebhookDeliveryStatus = 'PENDING' | 'SUCCEEDED' | 'EXHAUSTED' | 'CANCELLED';

/** HTTP statuses, both ends inclusive: one of them, or a class. */
export interface StatusCodes {
  from: number;
  to: number;
}

/** A delivery must pass every filter that is given. */
export interface DeliveryFilter {
  endpointId?: string;
  event?: string;
  statuses?: WebhookDeliveryStatus[];
  /** Of the last attempt of its latest round. */
  statusCodes?: StatusCodes;
  /** Of the last attempt of its latest round. */
  error?: AttemptError;
  /** That its event is about. */
  conversationId?: string;
  messageId?: string;
  since?: Date;
  until?: Date;
  cursor?: string;
}

/** A delivery as lists show it, wherever it is. */
export interface DeliveryRow {
  id: string;
  endpointId: string;
  eventId: string;
  eventType: string;
  round: number;
  status: WebhookDeliveryStatus;
  /** Null when it is finished, and while an attempt is under way. */
  nextAttemptAt: Date | null;
}

/** A step through a place where deliveries are, newest first. */
export interface SearchStep {
  rows: DeliveryRow[];
  /** It has looked at this delivery and all above; null when none is left below. */
  next: string | null;
}

/** A row that a step has looked at. */
export type LookedAt = DeliveryRow & { fits: boolean; seen: number };

export interface StatusCount {
  status: WebhookDeliveryStatus;
  count: number;
}

/** Values of a statement, numbered as they are added. */
export class Parameters {
  readonly values: unknown[] = [];

  /** @returns the value's place, such as `$3` */
  add(value: unknown): string {
    return `$${this.values.push(value)}`;
  }
}

/** The columns that hold the outcome of a delivery's last attempt. */
export interface OutcomeColumns {
  statusCode: string;
  error: string;
}

/** The filter's conditions on a delivery but for its status, its place in the list, and what it is about. */
export function conditionsOf(
  { endpointId, event, statusCodes, error }: DeliveryFilter,
  table: string,
  { statusCode, error: errorColumn }: OutcomeColumns,
  parameters: Parameters,
): string[] {
  const conditions: string[] = [];
  if (endpointId !== undefined) conditions.push(`${table}.endpoint_id = ${parameters.add(endpointId)}`);
  if (event !== undefined) conditions.push(`${table}.event_type = ${parameters.add(event)}`);
  if (error !== undefined) conditions.push(`${table}.${errorColumn} = ${parameters.add(error)}`);
  if (statusCodes) {
    const [from, to] = [parameters.add(statusCodes.from), parameters.add(statusCodes.to)];
    conditions.push(`${table}.${statusCode} BETWEEN ${from} AND ${to}`);
  }
  return conditions;
}

/** The place in the list that a filter leaves. Ids are ordered by time. */
export function boundsOf(
  { since, until, cursor }: DeliveryFilter,
  table: string,
  parameters: Parameters,
): string[] {
  const conditions: string[] = [];
  if (since) conditions.push(`${table}.id >= ${parameters.add(idFloor(since))}`);
  if (until) conditions.push(`${table}.id < ${parameters.add(idFloor(until))}`);
  if (cursor !== undefined) conditions.push(`${table}.id < ${parameters.add(cursor)}`);
  return conditions;
}

/** The same for a delivery without an attempt, in memory. */
export function matches(row: DeliveryRow, filter: DeliveryFilter): boolean {
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

/** @param size of the step: with fewer rows it was the last */
export function toStep(lookedAt: LookedAt[], size: number): SearchStep {
  const isFull = lookedAt[0]?.seen === size;
  const rows = lookedAt.filter(({ fits }) => fits).map(({ fits: _, seen: __, ...row }) => row);
  return { rows, next: isFull ? lookedAt.at(-1)!.id : null };
}
