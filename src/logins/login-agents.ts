import { Injectable } from '@nestjs/common';
import { requireOwner } from '../access/require-permission';
import { AppError } from '../common/app-error';
import { Actor } from '../common/principal';
import { Transaction } from '../database/transaction';
import { AgentEntity } from '../workspaces/agent.entity';
import { AgentsRepository } from '../workspaces/agents.repository';
import { GuessLimits } from './guess-limits';
import { MembershipsRepository } from './memberships.repository';

/** A workspace's agents, as its managers give them logins. */
@Injectable()
export class LoginAgents {
  constructor(
    private readonly agents: AgentsRepository,
    private readonly memberships: MembershipsRepository,
    private readonly limits: GuessLimits,
  ) {}

  /**
   * Locks an agent who may log in, for a link that its manager makes.
   * @returns the id of the agent's person as `login`; null when it has none
   * @throws AppError NOT_FOUND; INVALID_BODY: inactive, or a bot; FORBIDDEN: an OWNER, and the actor is none; RATE_LIMITED
   */
  async lock(
    tx: Transaction,
    tenantId: string,
    agentId: string,
    actor: Actor,
  ): Promise<{ agent: AgentEntity; login: string | null }> {
    const agent = await this.agents.lock(tx, tenantId, agentId);
    if (!agent) throw AppError.notFound('Agent');
    if (agent.role === 'OWNER') await requireOwner(tx, tenantId, actor);
    if (agent.isBot) throw AppError.invalidBody('agent', "is a bot, which can't log in");
    if (!agent.active) throw AppError.invalidBody('agent', 'is not active');
    await this.limits.linkOf(tenantId);
    return { agent, login: await this.memberships.personOf(tx, { tenantId, agentId }) };
  }
}
