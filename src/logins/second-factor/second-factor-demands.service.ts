import { Injectable } from '@nestjs/common';
import { requirePermission, requireReadPermission } from '../../access/require-permission';
import { AuditService } from '../../audit/audit.service';
import { AppError } from '../../common/app-error';
import { Actor } from '../../access/principal';
import { validate } from '../../common/validate';
import { Database } from '../../database/database';
import { Transaction } from '../../database/transaction';
import { WorkspacesRepository } from '../../workspaces/workspaces.repository';
import { PeopleRepository } from '../people/people.repository';
import { DEFAULT_GRACE_DAYS, DemandSecondFactor, SecondFactorDemand } from './second-factor-demand.dto';
import { SecondFactorDemandsRepository } from './second-factor-demands.repository';

@Injectable()
export class SecondFactorDemandsService {
  constructor(
    private readonly database: Database,
    private readonly demands: SecondFactorDemandsRepository,
    private readonly workspaces: WorkspacesRepository,
    private readonly people: PeopleRepository,
    private readonly audit: AuditService,
  ) {}

  /**
   * Demands a second factor of all people of the workspace. A person without one keeps access for the days of
   * grace, which begin with the demand, or when the person joins later. Afterwards the workspace is in the
   * `lockedMemberships` of the person's sessions until the person turns a second factor on. After their days
   * of grace, people can't turn a second factor off. A repeated call changes the number of days.
   * @throws AppError INVALID_BODY: the days are invalid, or the actor is an agent whose person has no second
   *   factor; FORBIDDEN, NOT_FOUND
   */
  async demand(tenantId: string, input: DemandSecondFactor, actor: Actor): Promise<SecondFactorDemand> {
    const { graceDays = DEFAULT_GRACE_DAYS } = validate(DemandSecondFactor, input);
    return this.database.transaction(async (tx) => {
      const before = await this.lockDemand(tx, tenantId, actor);
      if (actor.type === 'agent') await this.requireOwnFactor(tx, tenantId, actor.id);
      const after = await this.demands.save(tx, tenantId, graceDays);
      if (before?.graceDays !== graceDays)
        this.audit.appendPipelined(tx, {
          ...subjectOf(tenantId, actor),
          action: 'workspace.second_factor_demanded',
          ...(before && { before: { graceDays: before.graceDays } }),
          after: { graceDays },
        });
      return after;
    });
  }

  /**
   * Ends the demand, if there is one, so that people can enter the workspace without a second factor.
   * @throws AppError FORBIDDEN, NOT_FOUND
   */
  async endDemand(tenantId: string, actor: Actor): Promise<void> {
    await this.database.transaction(async (tx) => {
      const before = await this.lockDemand(tx, tenantId, actor);
      if (!before) return;
      await this.demands.delete(tx, tenantId);
      this.audit.appendPipelined(tx, {
        ...subjectOf(tenantId, actor),
        action: 'workspace.second_factor_demand_ended',
        before: { graceDays: before.graceDays },
      });
    });
  }

  /**
   * Lists the ids of the workspace's agents whose person has a second factor, oldest agent first. The actor
   * needs the permission to read invitations.
   * @throws AppError FORBIDDEN
   */
  async listFulfilling(tenantId: string, actor: Actor): Promise<string[]> {
    await requireReadPermission(this.database, tenantId, actor, 'invitation.read');
    const logins = await this.people.listAgentLogins(tenantId);
    return logins.filter(({ hasSecondFactor }) => hasSecondFactor).map(({ agentId }) => agentId);
  }

  private async lockDemand(
    tx: Transaction,
    tenantId: string,
    actor: Actor,
  ): Promise<SecondFactorDemand | null> {
    const workspace = await this.workspaces.lock(tx, tenantId);
    await requirePermission(tx, tenantId, actor, 'workspace.demand_second_factor');
    if (!workspace) throw AppError.notFound('Workspace');
    return this.demands.find(tx, tenantId);
  }

  private async requireOwnFactor(tx: Transaction, tenantId: string, agentId: string): Promise<void> {
    const person = await this.people.findByAgent(tx, { tenantId, agentId });
    if (!person?.hasSecondFactor) throw AppError.invalidBody('secondFactor', 'second_factor_missing');
  }
}

function subjectOf(tenantId: string, actor: Actor) {
  return { tenantId, actor, entity: 'workspace', entityId: tenantId };
}
