import { Controller, Get } from '@nestjs/common';
import type { Page } from 'conversation-messaging-service';
import type { EventTypeResponse } from '../api';
import { toList } from '../http/list';
import { eventTypes } from './event-type-response';

/** Lists the event types that an endpoint can subscribe to. They are the same for every workspace. */
@Controller('api/workspaces/:workspaceId/event-types')
export class EventTypesController {
  @Get()
  list(): Page<EventTypeResponse> {
    return toList(eventTypes());
  }
}
