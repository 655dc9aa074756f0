import { Injectable } from '@nestjs/common';
import { requirePermission } from '../access/require-permission';
import { AuditService } from '../audit/audit.service';
import { AppError } from '../common/app-error';
import { Actor } from '../access/principal';
import { Database } from '../database/database';
import { TableRegistry } from '../database/tables/table-registry';
import { AgentsRepository } from '../workspaces/agents.repository';
import { WorkspacesRepository } from '../workspaces/workspaces.repository';

@Injectable()
export class AgentErasuresService {
  constructor(
    private readonly database: Database,
    private readonly workspaces: WorkspacesRepository,
    private readonly agents: AgentsRepository,
    private readonly tables: TableRegistry,
    private readonly audit: AuditService,
  ) {}

  /**
   * Erases an inactive agent: name, display name and e-mail address, invitation, membership, drafts, and
   * choices of notices. The agent's id stays, because messages and audit entries name it. The agent's login
   * is deleted if it opens no other workspace. An erasure can't be undone; a second call changes nothing.
   * @throws AppError INVALID_BODY: the agent is active; FORBIDDEN, NOT_FOUND
   */
  async erase(tenantId: string, agentId: string, actor: Actor): Promise<void> {
    await this.database.transaction(async (tx) => {
      await this.workspaces.lock(tx, tenantId);
      await requirePermission(tx, tenantId, actor, 'agent.erase');
      const agent = await this.agents.lock(tx, tenantId, agentId);
      if (!agent) throw AppError.notFound('Agent');
      if (agent.active) throw AppError.invalidBody('agent', 'agent_active');
      if (agent.erasedAt) return;
      await this.agents.erase(tx, tenantId, agentId);
      for (const erasure of this.tables.listErasures()) await erasure.eraseAgent?.(tx, { tenantId, agentId });
      const subject = { tenantId, actor, entity: 'agent', entityId: agentId };
      this.audit.appendPipelined(tx, { ...subject, action: 'agent.erased' });
    });
  }
}
