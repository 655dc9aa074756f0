import { Injectable } from '@nestjs/common';
import { Transaction } from '../database/transaction';
import { StepOutcome } from '../queue/polling/fair-items';
import { WorkRunner } from '../queue/polling/work-runner';
import { AgentsRepository } from '../workspaces/agents.repository';
import { AgentReleasesRepository, BEFORE_ALL_AGENTS, ReleasingAgent } from './agent-releases.repository';
import { ConversationWriter } from './conversation-writer';

/** Number of workspaces that are processed at the same time. Each takes one database connection. */
const SIDE_BY_SIDE = 3;

/**
 * Removes a deactivated agent from their open and snoozed conversations, one transaction for each
 * conversation. Stops if the agent is activated again. Conversations from which the agent was removed before
 * stay without an agent.
 */
@Injectable()
export class AgentReleaser {
  constructor(
    runner: WorkRunner,
    private readonly releases: AgentReleasesRepository,
    private readonly agents: AgentsRepository,
    private readonly conversations: ConversationWriter,
  ) {
    runner.register({
      name: 'agent releases',
      search: {
        first: BEFORE_ALL_AGENTS,
        find: (after, server) => releases.findReleasing(after, server),
      },
      sideBySide: SIDE_BY_SIDE,
      transaction: 'orderedTransaction',
      step: (tx, agent) => this.releaseNext(tx, agent),
    });
  }

  private async releaseNext(tx: Transaction, agent: ReleasingAgent): Promise<StepOutcome> {
    const { tenantId, agentId } = agent;
    // An activation of the agent waits for this lock on its row, and then clears `releases_conversations`.
    if (!(await this.agents.lockReleasing(tx, tenantId, agentId))) return 'done';
    const conversation = await this.releases.lockNext(tx, agent);
    if (conversation) {
      await this.conversations.unassign(tx, conversation);
      return 'more';
    }
    if (await this.releases.hasAny(tx, agent)) return 'waiting';
    await this.agents.setReleasing(tx, { tenantId, id: agentId }, false);
    return 'done';
  }
}
