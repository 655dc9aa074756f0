import { Controller, Get, Param } from '@nestjs/common';
import { type Actor, type ReplyCheck, ReplyChecksService } from 'conversation-messaging-service';
import { CurrentActor } from '../http/access.decorators';

@Controller('api/workspaces/:workspaceId/conversations/:id/reply-check')
export class ReplyChecksController {
  constructor(private readonly checks: ReplyChecksService) {}

  @Get()
  get(
    @Param('workspaceId') workspaceId: string,
    @Param('id') id: string,
    @CurrentActor() actor: Actor,
  ): Promise<ReplyCheck> {
    return this.checks.get(workspaceId, id, actor);
  }
}
