import { hash } from 'node:crypto';

const TIMESTAMP_LENGTH = 13;

/**
 * Returns the id of an event's delivery to an endpoint. It is always the same, so the primary key keeps a
 * second delivery out. It is a UUID of version 8 (RFC 9562): the event's milliseconds, so that ids sort by
 * time, and a hash of both ids.
 */
export function deliveryIdOf(eventId: string, endpointId: string): string {
  const digest = hash('sha256', eventId + endpointId, 'hex');
  const variant = ((parseInt(digest[3]!, 16) & 0x3) | 0x8).toString(16);
  return `${eventId.slice(0, TIMESTAMP_LENGTH)}-8${digest.slice(0, 3)}-${variant}${digest.slice(4, 7)}-${digest.slice(7, 19)}`;
}

/** Returns a lower bound of the ids of an event's deliveries. */
export function firstIdOf(eventId: string): string {
  return `${eventId.slice(0, TIMESTAMP_LENGTH)}-0000-0000-000000000000`;
}

/**
 * Returns an upper bound of the ids of an event's deliveries. Deliveries of other events of the same
 * millisecond are within the bounds too.
 */
export function lastIdOf(eventId: string): string {
  return `${eventId.slice(0, TIMESTAMP_LENGTH)}-ffff-ffff-ffffffffffff`;
}
