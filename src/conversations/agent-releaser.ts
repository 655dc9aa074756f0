import { Injectable, Logger, OnModuleInit } from '@nestjs/common';
import { StepRounds } from '../queue/polling/step-rounds';
import { Database } from '../database/database';
import { Polls } from '../queue/polling/polls';
import { SteppedSearch } from '../queue/polling/searches';
import { AgentsRepository } from '../workspaces/agents.repository';
import { AgentReleasesRepository, BEFORE_ALL_AGENTS, ReleasingAgent } from './agent-releases.repository';
import { ConversationWriter } from './conversation-writer';

/** Number of conversations of a workspace that become nobody's before another workspace has its turn. */
const BATCH = 10;
/** Number of workspaces whose conversations are released side by side, each over a connection of its own. */
const SIDE_BY_SIDE = 3;
/** Number of workspaces from which on no others are searched, so that this takes a bounded memory. */
const MAX_WAITING = 10_000;

/**
 * Makes the open and snoozed conversations of deactivated agents nobody's, each in a transaction of its own:
 * a worker that is killed leaves the others to whoever comes next. Workspaces take turns, however many agents
 * have left them, and so do the agents of each. It stops when the agent is active again; what has become
 * nobody's by then stays so. Closed conversations keep their agent.
 */
@Injectable()
export class AgentReleaser implements OnModuleInit {
  private readonly logger = new Logger(AgentReleaser.name);
  /** Agents that wait, by their workspaces; the one at the front is the next. */
  private readonly waiting = new Map<string, Set<string>>();
  private readonly search: SteppedSearch<typeof BEFORE_ALL_AGENTS>;
  private readonly rounds = new StepRounds<string>({
    size: BATCH,
    pauseMs: 0,
    sideBySide: SIDE_BY_SIDE,
    list: () => this.listWorkspaces(),
    keyOf: (tenantId) => tenantId,
    step: (tenantId, size) => this.releaseSome(tenantId, size),
    onError: (tenantId, err) =>
      this.logger.error({ err, tenantId }, "an agent's conversations were not released; it will be retried"),
  });

  constructor(
    private readonly database: Database,
    private readonly releases: AgentReleasesRepository,
    private readonly agents: AgentsRepository,
    private readonly conversations: ConversationWriter,
    private readonly polls: Polls,
  ) {
    this.search = new SteppedSearch(database, BEFORE_ALL_AGENTS, async (after, server) => {
      const { agents, next } = await this.releases.findReleasing(after, server);
      for (const agent of agents) this.enqueue(agent);
      return next;
    });
  }

  onModuleInit(): void {
    this.polls.register('agent releases', () => this.rounds.run(() => this.polls.areHeld));
  }

  private enqueue({ tenantId, agentId }: ReleasingAgent): void {
    const agents = this.waiting.get(tenantId) ?? new Set();
    this.waiting.set(tenantId, agents.add(agentId));
  }

  private async listWorkspaces(): Promise<string[]> {
    if (this.waiting.size < MAX_WAITING) await this.search.run();
    return [...this.waiting.keys()];
  }

  /**
   * Releases up to `size` conversations of a workspace, and returns whether there may be more. An agent where
   * that fails, or whose conversations are locked, makes room for the others: the next search finds it again.
   */
  private async releaseSome(tenantId: string, size: number): Promise<boolean> {
    const agents = this.waiting.get(tenantId)!;
    let isWorking = false;
    try {
      for (let n = 0; n < size && agents.size > 0; n++) {
        const [agentId] = agents;
        agents.delete(agentId!);
        const outcome = await this.releaseNext({ tenantId, agentId: agentId! });
        if (outcome === 'released') agents.add(agentId!);
        isWorking ||= outcome !== 'locked';
      }
    } finally {
      if (agents.size === 0) this.waiting.delete(tenantId);
    }
    return isWorking && agents.size > 0;
  }

  private releaseNext(agent: ReleasingAgent): Promise<'released' | 'finished' | 'locked'> {
    const { tenantId, agentId } = agent;
    return this.database.orderedTransaction(async (tx) => {
      // An activation waits for this lock, and ends what this worker has not done.
      if (!(await this.agents.lockReleasing(tx, tenantId, agentId))) return 'finished';
      const conversation = await this.releases.lockNext(tx, agent);
      if (conversation) {
        await this.conversations.unassign(tx, conversation);
        return 'released';
      }
      if (await this.releases.hasAny(tx, agent)) return 'locked';
      await this.agents.setReleasing(tx, { tenantId, id: agentId }, false);
      return 'finished';
    });
  }
}
