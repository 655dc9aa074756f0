import { Injectable } from '@nestjs/common';
import { requirePermission } from '../access/require-permission';
import { AuditService } from '../audit/audit.service';
import { changedValues, valuesOf } from '../audit/changed-values';
import { AppError } from '../common/app-error';
import { violatesUnique } from '../common/database-errors';
import { newId } from '../common/ids';
import { Actor } from '../common/principal';
import { validate } from '../common/validate';
import { Database } from '../database/database';
import { CreateAgent, UpdateAgent } from './agent.dto';
import { AgentEntity } from './agent.entity';
import { AgentsRepository } from './agents.repository';

/** Manages a workspace's agents, for the dashboard and the CLI. */
@Injectable()
export class AgentsService {
  constructor(
    private readonly database: Database,
    private readonly agents: AgentsRepository,
    private readonly audit: AuditService,
  ) {}

  /** All agents of the workspace, also inactive ones and bots, oldest first. */
  list(tenantId: string): Promise<AgentEntity[]> {
    return this.agents.list(tenantId);
  }

  /**
   * Creates an agent or a bot account, which a message can name as its sender.
   * @throws AppError INVALID_BODY, also when another agent has the e-mail address; FORBIDDEN; NOT_FOUND (the workspace)
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
      createdAt: now,
      updatedAt: now,
    };
    try {
      await this.database.transaction(async (tx) => {
        await requirePermission(tx, tenantId, actor, 'agent.create');
        await this.agents.insert(tx, agent);
        const after = valuesOf(agent, ['displayName', 'role', 'isBot', 'active']);
        const subject = { tenantId, actor, entity: 'agent', entityId: agent.id };
        this.audit.appendPipelined(tx, { ...subject, action: 'agent.created', after });
      });
    } catch (error) {
      if (!violatesUnique(error, 'agents_email_key')) throw error;
      throw AppError.invalidBody('email', 'belongs to another agent of the workspace');
    }
    return agent;
  }

  /**
   * Changes an agent's role or display name, or activates or deactivates it.
   * @throws AppError INVALID_BODY, FORBIDDEN, NOT_FOUND
   */
  async update(tenantId: string, id: string, input: UpdateAgent, actor: Actor): Promise<AgentEntity> {
    const { displayName, role, active } = validate(UpdateAgent, input);
    return this.database.transaction(async (tx) => {
      await requirePermission(tx, tenantId, actor, 'agent.update');
      const before = await this.agents.lock(tx, tenantId, id);
      if (!before) throw AppError.notFound('Agent');
      const after = {
        ...before,
        displayName: displayName === undefined ? before.displayName : displayName,
        role: role ?? before.role,
        active: active ?? before.active,
        updatedAt: new Date(),
      };
      await this.agents.update(tx, after);
      const subject = { tenantId, actor, entity: 'agent', entityId: id };
      const roles = changedValues(before, after, ['role']);
      if (roles) this.audit.appendPipelined(tx, { ...subject, action: 'agent.role_changed', ...roles });
      const names = changedValues(before, after, ['displayName']);
      if (names)
        this.audit.appendPipelined(tx, { ...subject, action: 'agent.display_name_changed', ...names });
      const activity = changedValues(before, after, ['active']);
      const action = after.active ? 'agent.activated' : 'agent.deactivated';
      if (activity) this.audit.appendPipelined(tx, { ...subject, action, ...activity });
      return after;
    });
  }
}
