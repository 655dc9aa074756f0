import { Controller, Get } from '@nestjs/common';
import type { Page, EventType } from 'conversation-messaging-service';
import { exampleBody } from 'conversation-messaging-service';
import { eventCatalog } from 'conversation-messaging-service';
import type { EventTypeResponse } from '../api';
import { toList } from '../http/list';

/** Lists the event types that an endpoint can subscribe to. They are the same for every workspace. */
@Controller('api/workspaces/:workspaceId/event-types')
export class EventTypesController {
  @Get()
  list(): Page<EventTypeResponse> {
    return toList(eventTypes());
  }
}

const TYPES = Object.keys(eventCatalog) as EventType[];

/** Lists the event types in the order of the catalog. */
function eventTypes(): EventTypeResponse[] {
  return TYPES.map((type) => ({
    type,
    description: eventCatalog[type].description,
    kind: eventCatalog[type].kind,
    schema: eventCatalog[type].data,
    example: JSON.parse(exampleBody(type)) as object,
  }));
}
