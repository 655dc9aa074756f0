import { Injectable } from '@nestjs/common';
import { AppError } from '../../common/app-error';
import { Database } from '../../database/database';
import { AgentKey } from '../../database/tables/table-declaration';
import { RateLimit, RateLimiter, REFUSALS } from '../../http/limits/rate-limiter';
import { AgentsRepository } from '../../workspaces/agents.repository';
import { AlertMailLinks } from './alert-mail-links';
import { AlertMailboxesRepository } from './alert-mailboxes.repository';

const ENDS: RateLimit = { max: 10, excess: 'Too many calls with this link.' };

/** Ends the mails about alerts to an agent for whoever has one of them, without a login. */
@Injectable()
export class AlertMailEndsService {
  constructor(
    private readonly database: Database,
    private readonly links: AlertMailLinks,
    private readonly agents: AgentsRepository,
    private readonly mailboxes: AlertMailboxesRepository,
    private readonly limiter: RateLimiter,
  ) {}

  /**
   * Returns the agent whose mails a token ends.
   * @param network network of the client, whose wrong tokens are limited
   * @throws AppError NOT_FOUND, RATE_LIMITED
   */
  async require(token: string, network: string): Promise<AgentKey> {
    const agent = this.links.read(token);
    if (agent) return agent;
    await this.limiter.countCall(`alert-mails-refused:${network}`, REFUSALS);
    throw AppError.notFound('Agent');
  }

  /**
   * Ends the mails about alerts to an agent. It can be repeated.
   * @throws AppError NOT_FOUND (also for an erased agent), RATE_LIMITED
   */
  async end(token: string, network: string): Promise<void> {
    const { tenantId, agentId } = await this.require(token, network);
    await this.limiter.countCall(`alert-mail-ends:${tenantId}:${agentId}`, ENDS);
    const agent = await this.database.placement.forWorkspace(tenantId, () =>
      this.agents.find(tenantId, agentId),
    );
    if (!agent || agent.erasedAt) throw AppError.notFound('Agent');
    await this.database.transaction((tx) => this.mailboxes.end(tx, { tenantId, agentId }));
  }
}
