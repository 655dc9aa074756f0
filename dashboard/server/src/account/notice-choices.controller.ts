import { Body, Controller, Get, Param, Patch } from '@nestjs/common';
import {
  type Actor,
  ChooseNotices,
  type NoticeChoicesResponse,
  NoticeChoicesService,
} from 'conversation-messaging-service';
import { CurrentActor } from '../http/access.decorators';
import { LimitedTo } from '../http/limit.guard';

/** Changes of the choices that a person can make in a minute. */
const MAX_CHANGES = 60;

/** Reads and changes the notices that the person gets of a workspace while not in the inbox. */
@Controller('api/workspaces/:workspaceId/notice-choices')
export class NoticeChoicesController {
  constructor(private readonly choices: NoticeChoicesService) {}

  @Get()
  get(
    @Param('workspaceId') workspaceId: string,
    @CurrentActor() actor: Actor,
  ): Promise<NoticeChoicesResponse> {
    return this.choices.get(workspaceId, actor);
  }

  @Patch()
  @LimitedTo(MAX_CHANGES, 'notice-choices', { isOwnRow: true })
  set(
    @Param('workspaceId') workspaceId: string,
    @Body() body: ChooseNotices,
    @CurrentActor() actor: Actor,
  ): Promise<NoticeChoicesResponse> {
    return this.choices.set(workspaceId, body, actor);
  }
}
