import { Injectable } from '@nestjs/common';
import { AppError } from '../common/app-error';
import { isId } from '../common/ids';
import { Actor } from '../common/principal';
import { Database } from '../database/database';
import { AgentsRepository } from '../workspaces/agents.repository';
import { WorkspaceEntity } from '../workspaces/workspace.entity';

const TABLES = {
  Agent: 'agents',
  'API key': 'api_keys',
  'Webhook endpoint': 'webhook_endpoints',
  'Webhook recovery': 'webhook_recoveries',
  'Channel connection': 'channel_connections',
  Conversation: 'conversations',
} as const;

/**
 * Finds what the operator names by its id alone, and the workspaces themselves. The operator stands above all
 * workspaces; everybody else names one first, so no feature has a finder without one, and this is the only place that
 * looks across them.
 */
@Injectable()
export class OperatorLookup {
  constructor(
    private readonly database: Database,
    private readonly agents: AgentsRepository,
  ) {}

  /** All of them, newest first. */
  workspaces(): Promise<WorkspaceEntity[]> {
    return this.database.manager.find(WorkspaceEntity, { order: { id: 'DESC' } });
  }

  /**
   * @returns the id of the workspace that has it
   * @throws AppError NOT_FOUND
   */
  async tenantOf(thing: keyof typeof TABLES, id: string): Promise<string> {
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
   * An agent of the workspace, as the one who does something.
   * @throws AppError INVALID_BODY when it is unknown, inactive or another workspace's
   */
  async actingAgent(tenantId: string, agentId: string): Promise<Actor> {
    const agent = await this.agents.findActive(this.database, tenantId, agentId);
    if (!agent) throw AppError.invalidBody('agent', 'is not an active agent of this workspace');
    return { type: 'agent', id: agent.id };
  }
}
