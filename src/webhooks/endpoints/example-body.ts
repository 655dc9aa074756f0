import { eventCatalog, EventType } from '../../outbox/event-catalog';
import { bodyOf } from '../sending/delivery-request';

const DELIVERED_AT = new Date('2026-11-20T09:41:08.020Z');

/** Returns the body of a webhook of this type as a receiver gets it, with made-up data. */
export function exampleBody(eventType: EventType): string {
  return bodyOf({ eventType, data: JSON.stringify(eventCatalog[eventType].example) }, DELIVERED_AT);
}
