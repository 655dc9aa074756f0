import { Injectable } from '@nestjs/common';
import { type Actor, AgentsService } from 'conversation-messaging-service';
import { InvitationsService } from 'conversation-messaging-service/logins';
import type { InvitedAgent } from '../api';
import type { AddAgent } from './agent.dto';
import { toAgent } from './agent-response';

@Injectable()
export class NewAgents {
  constructor(
    private readonly agents: AgentsService,
    private readonly invitations: InvitationsService,
  ) {}

  /**
   * Creates an agent and an invitation, which is mailed or returned. If the mail can't be sent, the agent
   * stays and can be invited again.
   */
  async invite(workspaceId: string, body: AddAgent, actor: Actor): Promise<InvitedAgent> {
    const agent = await this.agents.create(workspaceId, { ...body }, actor);
    return { agent: toAgent(agent), ...(await this.invitations.invite(workspaceId, agent.id, {}, actor)) };
  }
}
