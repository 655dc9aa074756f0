import { Injectable } from '@nestjs/common';
import { requirePermission } from '../access/require-permission';
import { AuditService } from '../audit/audit.service';
import { AppError } from '../common/app-error';
import { Actor } from '../access/principal';
import { Database } from '../database/database';
import { Transaction } from '../database/transaction';
import { TableRegistry } from '../database/tables/table-registry';
import { AgentsRepository } from '../workspaces/agents.repository';
import { WorkspacesRepository } from '../workspaces/workspaces.repository';
import { InvitationsRepository } from './invitations/invitations.repository';
import { MembershipKey, MembershipsRepository } from './people/memberships.repository';
import { PeopleRepository } from './people/people.repository';

/** Erases what a workspace knows of agents who have left. */
@Injectable()
export class AgentErasuresService {
  constructor(
    private readonly database: Database,
    private readonly workspaces: WorkspacesRepository,
    private readonly agents: AgentsRepository,
    private readonly invitations: InvitationsRepository,
    private readonly memberships: MembershipsRepository,
    private readonly people: PeopleRepository,
    private readonly tables: TableRegistry,
    private readonly audit: AuditService,
  ) {}

  /**
   * Erases an inactive agent: its name, display name and e-mail address, its invitation, its membership
   * and its drafts.
   * Its id stays, because messages and audit entries name it. A login that opens no other workspace goes too,
   * with everything of it. It can't be undone; a second call changes nothing.
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
      await this.invitations.deleteOf(tx, tenantId, agentId);
      for (const erasure of this.tables.listErasures()) await erasure.eraseAgent?.(tx, { tenantId, agentId });
      await this.endMembership(tx, { tenantId, agentId });
      const subject = { tenantId, actor, entity: 'agent', entityId: agentId };
      this.audit.appendPipelined(tx, { ...subject, action: 'agent.erased' });
    });
  }

  /** Deletes the agent's membership, and its person if that was the last one. */
  private async endMembership(tx: Transaction, membership: MembershipKey): Promise<void> {
    const personId = await this.memberships.findPersonId(tx, membership);
    if (personId === null) return;
    // An acceptance of another workspace's invitation takes this lock as well.
    await this.people.lock(tx, personId);
    await this.memberships.delete(tx, personId, membership);
    if ((await this.memberships.count(tx, personId)) === 0) await this.people.delete(tx, personId);
  }
}
