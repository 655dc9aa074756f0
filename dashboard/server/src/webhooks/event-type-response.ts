import { eventCatalog, type EventType, exampleBody } from 'conversation-messaging-service';
import type { EventTypeResponse } from '../api';

const TYPES = Object.keys(eventCatalog) as EventType[];

/** Lists the event types in the order of the catalog. */
export function eventTypes(): EventTypeResponse[] {
  return TYPES.map((type) => ({
    type,
    description: eventCatalog[type].description,
    kind: eventCatalog[type].kind,
    schema: eventCatalog[type].data,
    example: JSON.parse(exampleBody(type)) as object,
  }));
}
