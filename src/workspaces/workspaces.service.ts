import { Injectable } from '@nestjs/common';
import { AlertWriter } from '../alerts/alert-writer';
import { requirePermission, requireReadPermission } from '../access/require-permission';
import { AuditRecord, AuditService } from '../audit/audit.service';
import { changedValues, valuesOf } from '../audit/changed-values';
import { AppError } from '../common/app-error';
import { violatesUnique } from '../database/driver/database-errors';
import { LOWEST_ID, newId } from '../common/ids';
import { Permission } from '../access/permissions';
import { Actor, SYSTEM } from '../access/principal';
import { validate } from '../common/validate';
import { Database } from '../database/database';
import { Transaction } from '../database/transaction';
import { RunningClaims } from '../queue/claims/running-claims';
import { DEFAULT_GRACE_DAYS, DeleteWorkspace, WorkspaceDeletion } from './workspace-deletion.dto';
import { DeletionProgress, WorkspaceDeletionsRepository } from './workspace-deletions.repository';
import { isTrialEnding, trialEndFrom } from './plan-policy';
import { CreateWorkspace, UpdateWorkspace } from './workspace.dto';
import { WorkspaceEntity } from './workspace.entity';
import { WorkspacesRepository } from './workspaces.repository';

/** Fields that an update can change, each with the action of its audit entry and the required permission. */
const CHANGES = {
  planTier: { action: 'workspace.plan_changed', permission: 'workspace.change_plan' },
  trialEndsAt: { action: 'workspace.trial_changed', permission: 'workspace.change_plan' },
  rateLimit: { action: 'workspace.rate_limit_changed', permission: 'workspace.change_plan' },
  messageRetentionDays: { action: 'workspace.message_retention_changed', permission: 'workspace.update' },
  entitlements: { action: 'workspace.entitlements_changed', permission: 'workspace.change_plan' },
} as const;
const FIELDS = Object.keys(CHANGES) as (keyof typeof CHANGES)[];

@Injectable()
export class WorkspacesService {
  constructor(
    private readonly database: Database,
    private readonly workspaces: WorkspacesRepository,
    private readonly deletions: WorkspaceDeletionsRepository,
    private readonly audit: AuditService,
    private readonly claims: RunningClaims,
    private readonly alerts: AlertWriter,
  ) {}

  /**
   * Creates a workspace. On the TRIAL plan, `trialEndsAt` defaults to 14 days from now.
   * @param actor any actor but an agent, because a new workspace has no agents
   * @throws AppError INVALID_BODY (also if another workspace has the slug)
   */
  async create(input: CreateWorkspace, actor: Actor = SYSTEM): Promise<WorkspaceEntity> {
    const given = validate(CreateWorkspace, input);
    const { planTier, trialEndsAt = null, rateLimit = null, messageRetentionDays = null } = given;
    const now = new Date();
    const workspace: WorkspaceEntity = {
      id: newId(),
      ...given,
      trialEndsAt: planTier === 'TRIAL' && !trialEndsAt ? trialEndFrom(now) : trialEndsAt,
      rateLimit,
      messageRetentionDays,
      entitlements: given.entitlements ?? [],
      suspendedAt: null,
      resumedAt: null,
      createdAt: now,
      updatedAt: now,
    };
    try {
      await this.database.transaction(async (tx) => {
        await requirePermission(tx, workspace.id, actor, 'workspace.create');
        await this.workspaces.insert(tx, workspace);
        const after = valuesOf(workspace, ['name', 'slug', ...FIELDS]);
        this.append(tx, workspace, actor, { action: 'workspace.created', after });
      });
    } catch (error) {
      if (!violatesUnique(error, 'workspace_slugs_pkey')) throw error;
      throw AppError.invalidBody('slug', 'slug_taken');
    }
    return workspace;
  }

  /**
   * Finds a workspace by its slug.
   * @throws AppError NOT_FOUND, FORBIDDEN, INVALID_BODY (the actor is an agent of another workspace)
   */
  async getBySlug(slug: string, actor: Actor): Promise<WorkspaceEntity> {
    const workspace = await this.workspaces.findBySlug(slug);
    // An agent of another workspace gets the same error whether or not this workspace exists.
    await requireReadPermission(this.database, workspace?.id ?? LOWEST_ID, actor, 'workspace.read');
    if (!workspace) throw new AppError('NOT_FOUND', `Workspace "${slug}" not found.`);
    return workspace;
  }

  /**
   * Changes a workspace's plan, trial, rate limit, retention of messages or entitlements. Each changed field
   * gets its own audit entry. Agents who are OWNER or ADMIN may change only the retention; only an OWNER may
   * shorten it, because this erases messages.
   * @throws AppError INVALID_BODY, FORBIDDEN, NOT_FOUND
   */
  async update(tenantId: string, input: UpdateWorkspace, actor: Actor): Promise<WorkspaceEntity> {
    const changes = validate(UpdateWorkspace, input);
    return this.database.transaction(async (tx) => {
      const given = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
      const fields = FIELDS.filter((field) => field in given);
      const before = await this.workspaces.lock(tx, tenantId);
      if (!before) throw AppError.notFound('Workspace');
      const after: WorkspaceEntity = { ...before, ...given, updatedAt: new Date() };
      const permissions = new Set<Permission>(fields.map((field) => CHANGES[field].permission));
      if (isRetentionShorter(before, after)) {
        permissions.delete('workspace.update');
        permissions.add('workspace.shorten_retention');
      }
      if (permissions.size === 0) permissions.add('workspace.update');
      for (const permission of permissions) await requirePermission(tx, tenantId, actor, permission);
      await this.workspaces.update(tx, after);
      if (isTrialEnding(before) && !isTrialEnding(after))
        await this.alerts.resolve(tx, tenantId, ['TRIAL_ENDING'], tenantId);
      for (const field of fields) {
        const changed = changedValues(before, after, [field]);
        if (changed) this.append(tx, after, actor, { action: CHANGES[field].action, ...changed });
      }
      return after;
    });
  }

  /**
   * Suspends a workspace. The API answers its keys with 403 `WORKSPACE_SUSPENDED`. After this call has
   * returned, no process begins an attempt of a webhook delivery or of an outbound message. Customers'
   * messages are still stored; their events and the agents' messages wait. A second call changes nothing.
   * @throws AppError FORBIDDEN, NOT_FOUND
   */
  async suspend(tenantId: string, actor: Actor): Promise<WorkspaceEntity> {
    const workspace = await this.database.transaction(async (tx) => {
      const before = await this.lockPermitted(tx, tenantId, actor, 'workspace.suspend');
      await this.deletions.keepSuspended(tx, tenantId);
      return before.suspendedAt ? before : this.setSuspended(tx, before, true, actor);
    });
    await this.waitForClaims(tenantId);
    return workspace;
  }

  /**
   * Ends a suspension. Messages and events that wait are sent within two seconds. Deliveries keep their
   * remaining attempts.
   * @throws AppError FORBIDDEN, NOT_FOUND, INVALID_BODY (the workspace's deletion is scheduled)
   */
  async resume(tenantId: string, actor: Actor): Promise<WorkspaceEntity> {
    return this.database.transaction(async (tx) => {
      const before = await this.lockPermitted(tx, tenantId, actor, 'workspace.resume');
      if (await this.deletions.lock(tx, tenantId))
        throw AppError.because('INVALID_BODY', 'deletion_scheduled');
      return before.suspendedAt ? this.setSuspended(tx, before, false, actor) : before;
    });
  }

  /**
   * Suspends a workspace, and schedules its deletion with all its rows. A second call changes the due time.
   * From the due time on, workers delete the rows, the audit log last. Afterwards another workspace can use
   * the slug.
   * @throws AppError FORBIDDEN, NOT_FOUND, INVALID_BODY (also if the deletion of rows has begun)
   */
  async delete(tenantId: string, input: DeleteWorkspace, actor: Actor): Promise<WorkspaceDeletion> {
    const { graceDays = DEFAULT_GRACE_DAYS } = validate(DeleteWorkspace, input);
    const deletion = await this.database.transaction(async (tx) => {
      const before = await this.lockPermitted(tx, tenantId, actor, 'workspace.delete');
      requireNotStarted(await this.deletions.lock(tx, tenantId));
      await this.deletions.schedule(tx, tenantId, graceDays, before.suspendedAt !== null);
      this.append(tx, before, actor, { action: 'workspace.deletion_scheduled', metadata: { graceDays } });
      if (!before.suspendedAt) await this.setSuspended(tx, before, true, actor);
      return this.deletions.find(tenantId, tx);
    });
    await this.waitForClaims(tenantId);
    return deletion!;
  }

  /**
   * Cancels a scheduled deletion, and resumes the workspace unless it had been suspended before.
   * @throws AppError FORBIDDEN, NOT_FOUND (also if no deletion is scheduled), INVALID_BODY (the deletion of
   *   rows has begun)
   */
  async cancelDeletion(tenantId: string, actor: Actor): Promise<WorkspaceEntity> {
    return this.database.transaction(async (tx) => {
      const before = await this.lockPermitted(tx, tenantId, actor, 'workspace.cancel_deletion');
      const deletion = await this.deletions.lock(tx, tenantId);
      if (!deletion) throw AppError.notFound('Deletion');
      requireNotStarted(deletion);
      await this.deletions.delete(tx, tenantId);
      this.append(tx, before, actor, { action: 'workspace.deletion_cancelled' });
      return deletion.wasSuspended ? before : this.setSuspended(tx, before, false, actor);
    });
  }

  /**
   * Returns the progress of a workspace's deletion.
   * @throws AppError FORBIDDEN, NOT_FOUND (no deletion is scheduled, or it has ended)
   */
  async getDeletion(tenantId: string, actor: Actor): Promise<WorkspaceDeletion> {
    await requireReadPermission(this.database, tenantId, actor, 'workspace.read');
    const deletion = await this.deletions.find(tenantId);
    if (!deletion) throw AppError.notFound('Deletion');
    return deletion;
  }

  private append(
    tx: Transaction,
    { id }: WorkspaceEntity,
    actor: Actor,
    entry: Pick<AuditRecord, 'action' | 'before' | 'after' | 'metadata'>,
  ): void {
    this.audit.appendPipelined(tx, { tenantId: id, actor, entity: 'workspace', entityId: id, ...entry });
  }

  /** Locks a workspace, and then the acting agent by checking the permission. The order avoids deadlocks. */
  private async lockPermitted(
    tx: Transaction,
    tenantId: string,
    actor: Actor,
    permission: Permission,
  ): Promise<WorkspaceEntity> {
    const workspace = await this.workspaces.lock(tx, tenantId);
    await requirePermission(tx, tenantId, actor, permission);
    if (!workspace) throw AppError.notFound('Workspace');
    return workspace;
  }

  private async setSuspended(
    tx: Transaction,
    before: WorkspaceEntity,
    isSuspended: boolean,
    actor: Actor,
  ): Promise<WorkspaceEntity> {
    const now = new Date();
    const times = isSuspended ? { suspendedAt: now } : { suspendedAt: null, resumedAt: now };
    const after = { ...before, ...times, updatedAt: now };
    await this.workspaces.update(tx, after);
    const action = isSuspended ? 'workspace.suspended' : 'workspace.resumed';
    this.append(tx, after, actor, { action, ...changedValues(before, after, ['suspendedAt']) });
    return after;
  }

  /**
   * Waits until deliveries and messages that were claimed before a suspension cannot start any more. Call it
   * after the suspension's commit, because later claims see the suspension and do not prolong the wait.
   */
  private async waitForClaims(tenantId: string): Promise<void> {
    await this.database.transaction((tx) => this.workspaces.lockExclusively(tx, tenantId));
    await this.claims.waitForWorkspace(tenantId);
  }
}

function isRetentionShorter(before: WorkspaceEntity, after: WorkspaceEntity): boolean {
  return (after.messageRetentionDays ?? Infinity) < (before.messageRetentionDays ?? Infinity);
}

function requireNotStarted(deletion: DeletionProgress | null): void {
  if (deletion?.startedAt) throw AppError.because('INVALID_BODY', 'deletion_begun');
}
