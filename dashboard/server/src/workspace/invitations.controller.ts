import { Controller, Delete, Get, HttpCode, Param } from '@nestjs/common';
import type { Actor, Page } from 'conversation-messaging-service';
import { InvitationsService, type InvitationSummary } from 'conversation-messaging-service/logins';
import { CurrentActor } from '../http/access.decorators';
import { toList } from '../http/list';

@Controller('api/workspaces/:workspaceId/invitations')
export class InvitationsController {
  constructor(private readonly invitations: InvitationsService) {}

  @Get()
  async list(
    @Param('workspaceId') workspaceId: string,
    @CurrentActor() actor: Actor,
  ): Promise<Page<InvitationSummary>> {
    return toList(await this.invitations.list(workspaceId, actor));
  }

  @Delete(':id')
  @HttpCode(204)
  revoke(
    @Param('workspaceId') workspaceId: string,
    @Param('id') id: string,
    @CurrentActor() actor: Actor,
  ): Promise<void> {
    return this.invitations.revoke(workspaceId, id, actor);
  }
}
