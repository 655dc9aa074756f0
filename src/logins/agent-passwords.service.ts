import { Injectable } from '@nestjs/common';
import { requirePermission } from '../access/require-permission';
import { AuditService } from '../audit/audit.service';
import { AppError } from '../common/app-error';
import { Actor } from '../common/principal';
import { Database } from '../database/database';
import { Transaction } from '../database/transaction';
import { SentLink } from './login.dto';
import { LoginAgents } from './login-agents';
import { LoginLinks } from './login-links';
import { MembershipsRepository } from './memberships.repository';
import { ResetTokens } from './reset-tokens';

/** What a workspace's managers may do for the passwords of its agents. */
@Injectable()
export class AgentPasswordsService {
  constructor(
    private readonly database: Database,
    private readonly agents: LoginAgents,
    private readonly memberships: MembershipsRepository,
    private readonly tokens: ResetTokens,
    private readonly links: LoginLinks,
    private readonly audit: AuditService,
  ) {}

  /**
   * Makes a link that resets the password of an agent's login, once, within 24 hours. It is mailed when a mail server is
   * configured. Otherwise the result has it, but only for a login that has no other workspace: it would open those too.
   * @throws AppError FORBIDDEN, also for a login with other workspaces; INVALID_BODY: the agent has no login; NOT_FOUND,
   * RATE_LIMITED; UNAVAILABLE: the mail was not sent
   */
  async sendReset(tenantId: string, agentId: string, actor: Actor): Promise<SentLink> {
    const reset = await this.database.transaction(async (tx) => {
      await requirePermission(tx, tenantId, actor, 'agent.reset_password');
      const { login } = await this.agents.lock(tx, tenantId, agentId, actor);
      if (!login) throw AppError.invalidBody('agent', 'has no login: invite it');
      const made = await this.tokens.makeIn(tx, login);
      // Under the person's lock, which a further membership takes as well.
      if (!this.links.areMailed) await this.requireNoOther(tx, login);
      const subject = { tenantId, actor, entity: 'agent', entityId: agentId };
      this.audit.appendPipelined(tx, { ...subject, action: 'agent.password_reset_sent' });
      return made;
    });
    return this.links.sendReset(reset);
  }

  private async requireNoOther(tx: Transaction, personId: string): Promise<void> {
    if ((await this.memberships.list(tx, personId)).length === 1) return;
    throw new AppError(
      'FORBIDDEN',
      'This login opens other workspaces too: ask the operator for a link to reset its password.',
    );
  }
}
