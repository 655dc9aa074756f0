import { Injectable, Logger, OnModuleInit } from '@nestjs/common';
import { StepRounds } from '../common/step-rounds';
import { Database } from '../database/database';
import { Polls } from '../database/polls';
import { SteppedSearch } from '../database/stepped-search';
import { AgentsRepository } from '../workspaces/agents.repository';
import { AgentReleasesRepository, BEFORE_ALL_AGENTS, ReleasingAgent } from './agent-releases.repository';
import { ConversationsService } from './conversations.service';

/** Number of steps of one search, so that it takes a bounded time. */
const MAX_STEPS = 10;
/** Number of conversations of an agent that become nobody's before another agent has its turn. */
const BATCH = 10;
const SIDE_BY_SIDE = 3;

/**
 * Makes the open and snoozed conversations of deactivated agents nobody's, each in a transaction of its own:
 * a worker that is killed leaves the others to whoever comes next. It stops when the agent is active again;
 * what has become nobody's by then stays so. Closed conversations keep their agent.
 */
@Injectable()
export class AgentReleaser implements OnModuleInit {
  private readonly logger = new Logger(AgentReleaser.name);
  private found: ReleasingAgent[] = [];
  private readonly search = new SteppedSearch(BEFORE_ALL_AGENTS, MAX_STEPS, async (after) => {
    const { agents, next } = await this.releases.findReleasing(after);
    this.found.push(...agents);
    return next;
  });
  private readonly rounds = new StepRounds<ReleasingAgent>({
    size: BATCH,
    pauseMs: 0,
    sideBySide: SIDE_BY_SIDE,
    list: () => this.list(),
    keyOf: ({ tenantId, agentId }) => `${tenantId} ${agentId}`,
    step: (agent, size) => this.releaseSome(agent, size),
    onError: (agent, err) =>
      this.logger.error({ err, ...agent }, "an agent's conversations were not released; it will be retried"),
  });

  constructor(
    private readonly database: Database,
    private readonly releases: AgentReleasesRepository,
    private readonly agents: AgentsRepository,
    private readonly conversations: ConversationsService,
    private readonly polls: Polls,
  ) {}

  onModuleInit(): void {
    this.polls.register('agent releases', () => this.rounds.run(() => this.polls.isStopped));
  }

  private async list(): Promise<ReleasingAgent[]> {
    this.found = [];
    await this.search.run();
    return this.found;
  }

  /** Releases up to `size` conversations of an agent, and returns whether there may be more. */
  private async releaseSome(agent: ReleasingAgent, size: number): Promise<boolean> {
    for (let n = 0; n < size; n++) if (!(await this.releaseNext(agent))) return false;
    return true;
  }

  private releaseNext(agent: ReleasingAgent): Promise<boolean> {
    const { tenantId, agentId } = agent;
    return this.database.orderedTransaction(async (tx) => {
      // An activation waits for this lock, and ends what this worker has not done.
      if (!(await this.agents.lockReleasing(tx, tenantId, agentId))) return false;
      const conversation = await this.releases.lockNext(tx, agent);
      if (conversation) await this.conversations.unassign(tx, conversation);
      else if (!(await this.releases.hasAny(tx, agent)))
        await this.agents.setReleasing(tx, { tenantId, id: agentId }, false);
      return conversation !== null;
    });
  }
}
