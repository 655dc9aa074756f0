import { Injectable } from '@nestjs/common';
import { requireOwner, requirePermission, requireReadPermission } from '../access/require-permission';
import { AuditService } from '../audit/audit.service';
import { changedValues, valuesOf } from '../audit/changed-values';
import { AppError } from '../common/app-error';
import { violatesUnique } from '../database/driver/database-errors';
import { newId } from '../common/ids';
import { Page, PageQuery, toPage } from '../common/page';
import { Actor } from '../access/principal';
import { validate } from '../common/validate';
import { Database } from '../database/database';
import { Transaction } from '../database/transaction';
import { AgentResponse, CreateAgent, toAgentResponse, UpdateAgent } from './agent.dto';
import { AgentEntity } from './agent.entity';
import { AgentWorks } from './agent-works';
import { AgentsRepository } from './agents.repository';
import { WorkspacesRepository } from './workspaces.repository';

/** Maximum agents of a workspace, active or not. There is a limit because `list` returns all at once. */
const MAX_AGENTS = 1_000;

@Injectable()
export class AgentsService {
  constructor(
    private readonly database: Database,
    private readonly agents: AgentsRepository,
    private readonly workspaces: WorkspacesRepository,
    private readonly audit: AuditService,
    private readonly works: AgentWorks,
  ) {}

  /**
   * Lists all agents of a workspace, oldest first, including bots and inactive agents: 1,000 at most.
   * @throws AppError FORBIDDEN
   */
  async list(tenantId: string, actor: Actor): Promise<AgentEntity[]> {
    await requireReadPermission(this.database, tenantId, actor, 'agent.read');
    return this.agents.list(tenantId);
  }

  /**
   * Returns a page of a workspace's agents, newest first, including bots and inactive agents: 50 by default,
   * 200 at most.
   * @throws AppError INVALID_QUERY, FORBIDDEN
   */
  async listPage(tenantId: string, input: Partial<PageQuery>, actor: Actor): Promise<Page<AgentResponse>> {
    const { cursor, limit } = validate(PageQuery, input, 'INVALID_QUERY');
    await requireReadPermission(this.database, tenantId, actor, 'agent.read');
    const rows = await this.agents.listBelow(tenantId, cursor, limit + 1);
    return toPage(rows, limit, toAgentResponse);
  }

  /**
   * Returns an agent, who may be a bot or inactive.
   * @throws AppError FORBIDDEN, NOT_FOUND
   */
  async get(tenantId: string, id: string, actor: Actor): Promise<AgentResponse> {
    await requireReadPermission(this.database, tenantId, actor, 'agent.read');
    const agent = await this.agents.find(tenantId, id);
    if (!agent) throw AppError.notFound('Agent');
    return toAgentResponse(agent);
  }

  /**
   * Counts the active agents of a workspace that are not bots.
   * @throws AppError FORBIDDEN
   */
  async countPeople(tenantId: string, actor: Actor): Promise<number> {
    await requireReadPermission(this.database, tenantId, actor, 'agent.read');
    return this.agents.countPeople(tenantId);
  }

  /**
   * Creates an agent or a bot account. An actor that is an agent must be an OWNER to create an OWNER. A
   * workspace has up to 1,000 agents.
   * @throws AppError INVALID_BODY (also if another agent has the e-mail address, or the workspace has 1,000
   *   agents), FORBIDDEN, NOT_FOUND (the workspace)
   */
  async create(tenantId: string, input: CreateAgent, actor: Actor): Promise<AgentEntity> {
    const { displayName = null, isBot = false, active = true, ...given } = validate(CreateAgent, input);
    const now = new Date();
    const agent: AgentEntity = {
      id: newId(),
      tenantId,
      ...given,
      displayName,
      isBot,
      active,
      erasedAt: null,
      createdAt: now,
      updatedAt: now,
    };
    try {
      await this.database.transaction(async (tx) => {
        // Without this lock, two creations at once could exceed the limit.
        await this.workspaces.lock(tx, tenantId);
        await requirePermission(tx, tenantId, actor, 'agent.create');
        if ((await this.agents.count(tx, tenantId, MAX_AGENTS)) === MAX_AGENTS)
          throw AppError.because('INVALID_BODY', 'too_many_agents', { max: MAX_AGENTS });
        if (agent.role === 'OWNER') await requireOwner(tx, tenantId, actor);
        await this.agents.insert(tx, agent);
        const after = valuesOf(agent, ['displayName', 'role', 'isBot', 'active']);
        const subject = { tenantId, actor, entity: 'agent', entityId: agent.id };
        this.audit.appendPipelined(tx, { ...subject, action: 'agent.created', after });
      });
    } catch (error) {
      if (!violatesUnique(error, 'agents_email_key')) throw error;
      throw AppError.invalidBody('email', 'email_taken');
    }
    return agent;
  }

  /**
   * Changes an agent's names or role, or activates or deactivates the agent.
   * - An actor that is an agent must be an OWNER to change or appoint an OWNER. The last active OWNER cannot
   *   lose the role or be deactivated.
   * - A change of role or activity ends invitations and links to reset a password that were made for the
   *   agent or by the agent.
   * - Workers unassign the open and snoozed conversations of a deactivated agent.
   * - A deactivation runs the functions in `AgentWorks.deactivations`.
   * @throws AppError INVALID_BODY (also for the last active OWNER, and for an erased agent), FORBIDDEN,
   *   NOT_FOUND
   */
  async update(tenantId: string, id: string, input: UpdateAgent, actor: Actor): Promise<AgentEntity> {
    const { name, displayName, role, active } = validate(UpdateAgent, input);
    return this.database.transaction(async (tx) => {
      // Without this lock, two changes at once could remove the last two OWNERs.
      await this.workspaces.lock(tx, tenantId);
      await requirePermission(tx, tenantId, actor, 'agent.update');
      const before = await this.agents.lock(tx, tenantId, id);
      if (!before) throw AppError.notFound('Agent');
      if (before.erasedAt) throw AppError.invalidBody('agent', 'agent_erased');
      const after = {
        ...before,
        name: name ?? before.name,
        displayName: displayName === undefined ? before.displayName : displayName,
        role: role ?? before.role,
        active: active ?? before.active,
        updatedAt: new Date(),
      };
      await this.protectOwners(tx, actor, before, after);
      await this.agents.update(tx, after);
      if (isAccessChange(before, after)) await this.agents.noteAccessChange(tx, after);
      if (before.active !== after.active) await this.agents.setReleasing(tx, after, before.active);
      if (before.active && !after.active)
        for (const work of this.works.deactivations) await work(tx, { tenantId, agentId: id });
      const subject = { tenantId, actor, entity: 'agent', entityId: id };
      const roles = changedValues(before, after, ['role']);
      if (roles) this.audit.appendPipelined(tx, { ...subject, action: 'agent.role_changed', ...roles });
      // Audit entries are kept for ever, so they must not name people.
      if (after.name !== before.name) this.audit.appendPipelined(tx, { ...subject, action: 'agent.renamed' });
      const names = changedValues(before, after, ['displayName']);
      if (names)
        this.audit.appendPipelined(tx, { ...subject, action: 'agent.display_name_changed', ...names });
      const activity = changedValues(before, after, ['active']);
      const action = after.active ? 'agent.activated' : 'agent.deactivated';
      if (activity) this.audit.appendPipelined(tx, { ...subject, action, ...activity });
      return after;
    });
  }

  /**
   * Checks that the actor may change or appoint an OWNER, and that an active OWNER is left.
   * @throws AppError FORBIDDEN (the actor is an agent, but no OWNER), INVALID_BODY (the agent is the last
   *   active OWNER)
   */
  private async protectOwners(
    tx: Transaction,
    actor: Actor,
    before: AgentEntity,
    after: AgentEntity,
  ): Promise<void> {
    const { tenantId, id } = before;
    if ([before.role, after.role].includes('OWNER')) await requireOwner(tx, tenantId, actor);
    if (!leads(before) || leads(after) || (await this.agents.hasOtherOwner(tx, tenantId, id))) return;
    const field = after.active ? 'role' : 'active';
    throw AppError.invalidBody(field, 'last_owner');
  }
}

function isAccessChange(before: AgentEntity, after: AgentEntity): boolean {
  return before.role !== after.role || before.active !== after.active;
}

/** Reports whether an agent is an active OWNER. Bots do not count, because they cannot log in. */
function leads({ role, active, isBot }: AgentEntity): boolean {
  return role === 'OWNER' && active && !isBot;
}
