import { Injectable } from '@nestjs/common';
import { requireOwner, requirePermission } from '../../access/require-permission';
import { AppError } from '../../common/app-error';
import { Permission } from '../../access/permissions';
import { Actor } from '../../access/principal';
import { Transaction } from '../../database/transaction';
import { AgentsRepository } from '../../workspaces/agents.repository';
import { WorkspacesRepository } from '../../workspaces/workspaces.repository';
import { isPlainEmail } from '../../common/validators';
import { Mailer } from '../../mails/mailer';
import { GuessLimits } from '../people/guess-limits';
import { MembershipsRepository } from '../people/memberships.repository';

@Injectable()
export class LinkRecipients {
  constructor(
    private readonly workspaces: WorkspacesRepository,
    private readonly agents: AgentsRepository,
    private readonly memberships: MembershipsRepository,
    private readonly limits: GuessLimits,
    private readonly mailer: Mailer,
  ) {}

  /**
   * Checks the permission to make a link for an agent, and counts the link against the rate limits. Locks the
   * rows of the workspace and of the agent.
   * @returns the id of the agent's person; null for an agent without a login
   * @throws AppError NOT_FOUND; INVALID_BODY: the agent is inactive, a bot, or has an ambiguous e-mail
   *   address; FORBIDDEN: the actor lacks the permission, or is no OWNER while the agent is one; RATE_LIMITED
   */
  async lock(
    tx: Transaction,
    tenantId: string,
    agentId: string,
    actor: Actor,
    permission: Permission,
  ): Promise<string | null> {
    await this.workspaces.lock(tx, tenantId);
    await requirePermission(tx, tenantId, actor, permission);
    const agent = await this.agents.lock(tx, tenantId, agentId);
    if (!agent) throw AppError.notFound('Agent');
    if (agent.role === 'OWNER') await requireOwner(tx, tenantId, actor);
    if (agent.isBot) throw AppError.invalidBody('agent', 'agent_is_bot');
    if (!agent.active) throw AppError.invalidBody('agent', 'agent_inactive');
    if (!isPlainEmail(agent.email)) throw AppError.invalidBody('agent', 'email_not_plain');
    await this.limits.countLink(tenantId);
    if (this.mailer.isConfigured) await this.limits.countMailedLink(tenantId, agent.email);
    return this.memberships.findPersonId(tx, { tenantId, agentId });
  }

  /**
   * Refuses to show a link for a person with several workspaces, because the link would open all of them. The
   * transaction must hold the lock on the person's row, so that no workspace is added meanwhile.
   * @throws AppError FORBIDDEN
   */
  async requireOneWorkspace(tx: Transaction, personId: string): Promise<void> {
    if ((await this.memberships.count(tx, personId)) === 1) return;
    throw AppError.because('FORBIDDEN', 'login_of_others');
  }
}
