import { Injectable } from '@nestjs/common';
import { AppError } from '../common/app-error';
import { isId } from '../common/ids';
import { Actor, actorIdOf } from '../common/principal';
import { Database } from '../database/database';
import { AgentsRepository } from '../workspaces/agents.repository';
import { WorkspaceDeletion } from '../workspaces/deletion/workspace-deletion.dto';
import { WorkspaceDeletionsRepository } from '../workspaces/deletion/workspace-deletions.repository';
import { WorkspaceEntity } from '../workspaces/workspace.entity';
import { Operator } from './operator';

const TABLES = {
  Agent: 'agents',
  'API key': 'api_keys',
  'Webhook endpoint': 'webhook_endpoints',
  'Webhook recovery': 'webhook_recoveries',
  'Channel connection': 'channel_connections',
  Conversation: 'conversations',
} as const;

/**
 * Finds things by their id alone, and lists all workspaces. Only the operator may search across workspaces:
 * every other finder takes the workspace first.
 */
@Injectable()
export class OperatorLookup {
  constructor(
    private readonly database: Database,
    private readonly agents: AgentsRepository,
    private readonly deletions: WorkspaceDeletionsRepository,
  ) {}

  /** Lists all workspaces, newest first. */
  listWorkspaces(): Promise<WorkspaceEntity[]> {
    return this.database.manager.find(WorkspaceEntity, { order: { id: 'DESC' } });
  }

  /** Lists the workspaces that are to be deleted, the earliest due date first. */
  listDeletions(): Promise<WorkspaceDeletion[]> {
    return this.deletions.list();
  }

  /**
   * Returns the id of the workspace that a thing belongs to.
   * @throws AppError NOT_FOUND
   */
  async findWorkspaceId(thing: keyof typeof TABLES, id: string): Promise<string> {
    const rows = isId(id)
      ? await this.database.query<{ tenantId: string }>(
          `SELECT tenant_id AS "tenantId" FROM ${TABLES[thing]} WHERE id = $1`,
          [id],
        )
      : [];
    if (!rows[0]) throw AppError.notFound(thing);
    return rows[0].tenantId;
  }

  /**
   * Returns an agent as the author of a change that the operator makes in the agent's name.
   * @throws AppError INVALID_BODY when the agent is unknown, inactive or of another workspace
   */
  async getActingAgent(tenantId: string, agentId: string, operator: Operator): Promise<Actor> {
    const agent = await this.agents.findActive(this.database, tenantId, agentId);
    if (!agent) throw AppError.invalidBody('agent', 'is not an active agent of this workspace');
    return { type: 'agent', id: agent.id, origin: { userAgent: `CLI, ${actorIdOf(operator)}` } };
  }
}
