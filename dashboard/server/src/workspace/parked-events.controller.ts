import { Controller, Get, Param } from '@nestjs/common';
import { type Actor, type Page, ParkedEventsService, type ParkedEvent } from 'conversation-messaging-service';
import type { ParkedEventResponse } from '../api';
import { CurrentActor } from '../http/access.decorators';
import { toList } from '../http/list';

@Controller('api/workspaces/:workspaceId/parked-events')
export class ParkedEventsController {
  constructor(private readonly parked: ParkedEventsService) {}

  @Get()
  async list(
    @Param('workspaceId') workspaceId: string,
    @CurrentActor() actor: Actor,
  ): Promise<Page<ParkedEventResponse>> {
    return toList((await this.parked.list(workspaceId, actor)).map(toParkedEvent));
  }
}

function toParkedEvent({ tenantId: _, ...event }: ParkedEvent): ParkedEventResponse {
  return event;
}
