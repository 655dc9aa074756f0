import { hash } from 'node:crypto';

const TIMESTAMP_LENGTH = 13;

/**
 * The id of an event's delivery to an endpoint, the same whenever it is made: the primary key keeps a second delivery out.
 * A UUID of version 8 (RFC 9562): the event's milliseconds, so that ids sort by time, and a hash of both ids.
 */
export function deliveryIdOf(eventId: string, endpointId: string): string {
  const digest = hash('sha256', eventId + endpointId, 'hex');
  const variant = ((parseInt(digest[3]!, 16) & 0x3) | 0x8).toString(16);
  return `${eventId.slice(0, TIMESTAMP_LENGTH)}-8${digest.slice(0, 3)}-${variant}${digest.slice(4, 7)}-${digest.slice(7, 19)}`;
}

/** Of all deliveries of an event no id is below it. */
export function firstIdOf(eventId: string): string {
  return `${eventId.slice(0, TIMESTAMP_LENGTH)}-0000-0000-000000000000`;
}

/** Of all deliveries of an event, and of others of its millisecond, no id is above it. */
export function lastIdOf(eventId: string): string {
  return `${eventId.slice(0, TIMESTAMP_LENGTH)}-ffff-ffff-ffffffffffff`;
}

/** When the delivery's event was made. */
export function createdAtOf(deliveryId: string): Date {
  return new Date(parseInt(deliveryId.slice(0, TIMESTAMP_LENGTH).replace('-', ''), 16));
}
