import { idFloor } from '../../common/ids';

export type WebhookDeliveryStatus = 'PENDING' | 'SUCCEEDED' | 'EXHAUSTED' | 'CANCELLED';

export interface DeliveryFilter {
  endpointId?: string;
  event?: string;
  status?: WebhookDeliveryStatus;
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

export interface StatusCount {
  status: WebhookDeliveryStatus;
  count: number;
}

/** The filter's conditions but for the status, on a table with the workspace as $1. */
export function conditionsOf(
  table: string,
  tenantId: string,
  { endpointId, event, since, until, cursor }: DeliveryFilter,
): { where: string[]; parameters: unknown[] } {
  const parameters: unknown[] = [tenantId];
  const where: string[] = [];
  const add = (condition: string, value: unknown) => {
    if (value !== undefined) where.push(`${table}.${condition} $${parameters.push(value)}`);
  };
  add('endpoint_id =', endpointId);
  add('event_type =', event);
  // Ids are ordered by time.
  add('id >=', since && idFloor(since));
  add('id <', until && idFloor(until));
  add('id <', cursor);
  return { where, parameters };
}

/** The same for rows in memory. */
export function matches(
  row: DeliveryRow,
  { endpointId, event, status, since, until, cursor }: DeliveryFilter,
): boolean {
  return (
    (endpointId === undefined || row.endpointId === endpointId) &&
    (event === undefined || row.eventType === event) &&
    (status === undefined || row.status === status) &&
    (since === undefined || row.id >= idFloor(since)) &&
    (until === undefined || row.id < idFloor(until)) &&
    (cursor === undefined || row.id < cursor)
  );
}
