import { Body, Controller, Get, HttpCode, Param, Patch, Post } from '@nestjs/common';
import { type Actor, AgentsService, type Page, UpdateAgent } from 'conversation-messaging-service';
import {
  AgentErasuresService,
  InvitationsService,
  InviteAgent,
  PasswordsService,
  type SentInvitation,
  type SentLink,
} from 'conversation-messaging-service/logins';
import type { AgentResponse, InvitedAgent } from '../api';
import { CurrentActor } from '../http/access.decorators';
import { LimitedTo } from '../http/limit.guard';
import { toList } from '../http/list';
import { AddAgent } from './agent.dto';
import { toAgent } from './agent-response';
import { NewAgents } from './new-agents';

/** Invitations and password links that a person can create in a minute: few, because each may be mailed. */
const LINKS_A_MINUTE = 20;

@Controller('api/workspaces/:workspaceId/agents')
export class AgentsController {
  constructor(
    private readonly agents: AgentsService,
    private readonly newAgents: NewAgents,
    private readonly invitations: InvitationsService,
    private readonly passwords: PasswordsService,
    private readonly erasures: AgentErasuresService,
  ) {}

  @Get()
  async list(
    @Param('workspaceId') workspaceId: string,
    @CurrentActor() actor: Actor,
  ): Promise<Page<AgentResponse>> {
    return toList((await this.agents.list(workspaceId, actor)).map(toAgent));
  }

  @Post()
  @LimitedTo(LINKS_A_MINUTE, 'links')
  create(
    @Param('workspaceId') workspaceId: string,
    @Body() body: AddAgent,
    @CurrentActor() actor: Actor,
  ): Promise<InvitedAgent> {
    return this.newAgents.invite(workspaceId, body, actor);
  }

  @Patch(':id')
  async update(
    @Param('workspaceId') workspaceId: string,
    @Param('id') id: string,
    @Body() body: UpdateAgent,
    @CurrentActor() actor: Actor,
  ): Promise<AgentResponse> {
    return toAgent(await this.agents.update(workspaceId, id, body, actor));
  }

  @Post(':id/erase')
  @HttpCode(204)
  erase(
    @Param('workspaceId') workspaceId: string,
    @Param('id') id: string,
    @CurrentActor() actor: Actor,
  ): Promise<void> {
    return this.erasures.erase(workspaceId, id, actor);
  }

  @Post(':id/invitation')
  @LimitedTo(LINKS_A_MINUTE, 'links')
  inviteAgain(
    @Param('workspaceId') workspaceId: string,
    @Param('id') id: string,
    @Body() body: InviteAgent,
    @CurrentActor() actor: Actor,
  ): Promise<SentInvitation> {
    return this.invitations.invite(workspaceId, id, body, actor);
  }

  @Post(':id/password-reset')
  @HttpCode(200)
  @LimitedTo(LINKS_A_MINUTE, 'links')
  resetPassword(
    @Param('workspaceId') workspaceId: string,
    @Param('id') id: string,
    @CurrentActor() actor: Actor,
  ): Promise<SentLink> {
    return this.passwords.sendReset(workspaceId, id, actor);
  }
}
