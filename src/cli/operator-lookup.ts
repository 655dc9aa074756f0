import { Injectable } from '@nestjs/common';
import { AppError } from '../common/app-error';
import { isId } from '../common/ids';
import { Actor, actorIdOf } from '../access/principal';
import { Database } from '../database/database';
import { AgentsRepository } from '../workspaces/agents.repository';
import { WorkspaceDeletion } from '../workspaces/workspace-deletion.dto';
import { WorkspaceDeletionsRepository } from '../workspaces/workspace-deletions.repository';
import { WorkspaceEntity } from '../workspaces/workspace.entity';
import { WorkspacesRepository } from '../workspaces/workspaces.repository';
import { WorkspaceUsage, WorkspaceUsageRepository } from '../operations/metrics/workspace-usage.repository';
import { Operator } from './operator';

/** Tables in which an operator can find a row by its id, without naming the workspace. */
const TABLES = {
  Agent: 'agents',
  'API key': 'api_keys',
  'Webhook endpoint': 'webhook_endpoints',
  'Webhook recovery': 'webhook_recoveries',
  'Channel connection': 'channel_connections',
  Conversation: 'conversations',
} as const;
export type LookedUpThing = keyof typeof TABLES;

const MAX_USAGES = 50;

/** Finds agents, keys and other things by id in all workspaces, and lists workspaces. Only for operators. */
@Injectable()
export class OperatorLookup {
  constructor(
    private readonly database: Database,
    private readonly workspaces: WorkspacesRepository,
    private readonly agents: AgentsRepository,
    private readonly deletions: WorkspaceDeletionsRepository,
    private readonly usage: WorkspaceUsageRepository,
  ) {}

  listWorkspaces(): Promise<WorkspaceEntity[]> {
    return this.workspaces.listAll();
  }

  /** Lists the workspaces that are to be deleted, the earliest due date first. */
  listDeletions(): Promise<WorkspaceDeletion[]> {
    return this.deletions.list();
  }

  /** Lists the usage of the largest workspaces, at most 50. Workspaces over a quota come first. */
  async listUsage(): Promise<(WorkspaceUsage & { slug: string | null })[]> {
    const usages = (await this.usage.list()).slice(0, MAX_USAGES);
    const ids = usages.map(({ workspaceId }) => workspaceId);
    const found = await this.workspaces.findMany(this.database, ids);
    const slugs = new Map(found.map(({ id, slug }) => [id, slug]));
    return usages.map((usage) => ({ slug: slugs.get(usage.workspaceId) ?? null, ...usage }));
  }

  /**
   * Returns the id of the workspace to which a thing belongs.
   * @throws AppError NOT_FOUND when the thing does not exist
   */
  async findWorkspaceId(thing: LookedUpThing, id: string): Promise<string> {
    if (!isId(id)) throw AppError.notFound(thing);
    const sql = `SELECT tenant_id AS "tenantId" FROM ${TABLES[thing]} WHERE id = $1`;
    const [row] = await this.database.query<{ tenantId: string }>(sql, [id]);
    if (!row) throw AppError.notFound(thing);
    return row.tenantId;
  }

  /**
   * Returns an agent as the author of a change that the operator makes in the agent's name.
   * @throws AppError INVALID_BODY when the agent is unknown, inactive or of another workspace
   */
  async getActingAgent(tenantId: string, agentId: string, operator: Operator): Promise<Actor> {
    const agent = await this.agents.findActive(this.database, tenantId, agentId);
    if (!agent) throw AppError.invalidBody('agent', 'agent_unknown');
    return { type: 'agent', id: agent.id, origin: { userAgent: `CLI, ${actorIdOf(operator)}` } };
  }
}
