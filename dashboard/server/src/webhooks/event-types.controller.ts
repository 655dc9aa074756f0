import { Controller, Get } from '@nestjs/common';
import type { Page, EventType } from 'conversation-messaging-service';
import { exampleBody } from 'conversation-messaging-service';
import { eventCatalog } from 'conversation-messaging-service';
import type { EventTypeResponse } from '../api';
import { toList } from '../http/list';

/** Lists the event types to which an endpoint can subscribe. The list is the same in all workspaces. */
@Controller('api/workspaces/:workspaceId/event-types')
export class EventTypesController {
  @Get()
  list(): Page<EventTypeResponse> {
    return toList(eventTypes());
  }
}

const TYPES = Object.keys(eventCatalog) as EventType[];

function eventTypes(): EventTypeResponse[] {
  return TYPES.map((type) => ({
    type,
    description: eventCatalog[type].description,
    kind: eventCatalog[type].kind,
    schema: eventCatalog[type].data,
    example: JSON.parse(exampleBody(type)) as object,
  }));
}
