import { Injectable } from '@nestjs/common';
import { requirePermission, requireReadPermission } from '../access/require-permission';
import { AuditService } from '../audit/audit.service';
import { changedValues, valuesOf } from '../audit/changed-values';
import { AppError } from '../common/app-error';
import { violatesUnique } from '../database/driver/database-errors';
import { LOWEST_ID, newId } from '../common/ids';
import { Permission } from '../access/permissions';
import { Actor, SYSTEM } from '../access/principal';
import { validate } from '../common/validate';
import { Database } from '../database/database';
import { Transaction } from '../database/transaction';
import { DEFAULT_GRACE_DAYS, DeleteWorkspace, WorkspaceDeletion } from './workspace-deletion.dto';
import { DeletionProgress, WorkspaceDeletionsRepository } from './workspace-deletions.repository';
import { trialEndFrom } from './plan-policy';
import { CreateWorkspace, UpdateWorkspace } from './workspace.dto';
import { WorkspaceEntity } from './workspace.entity';
import { WorkspacesRepository } from './workspaces.repository';

/**
 * Fields that can be changed, each with its action in the audit log and the permission that it takes. Each
 * changed field has its own entry.
 */
const CHANGES = {
  planTier: { action: 'workspace.plan_changed', permission: 'workspace.change_plan' },
  trialEndsAt: { action: 'workspace.trial_changed', permission: 'workspace.change_plan' },
  rateLimit: { action: 'workspace.rate_limit_changed', permission: 'workspace.change_plan' },
  messageRetentionDays: {
    action: 'workspace.message_retention_changed',
    permission: 'workspace.update',
  },
  entitlements: { action: 'workspace.entitlements_changed', permission: 'workspace.change_plan' },
} as const;
const FIELDS = Object.keys(CHANGES) as (keyof typeof CHANGES)[];

/** Manages workspaces, for the dashboard and the CLI. */
@Injectable()
export class WorkspacesService {
  constructor(
    private readonly database: Database,
    private readonly workspaces: WorkspacesRepository,
    private readonly deletions: WorkspaceDeletionsRepository,
    private readonly audit: AuditService,
  ) {}

  /**
   * Creates a workspace. On the TRIAL plan, `trialEndsAt` defaults to 14 days from now.
   * @param actor not an agent, because a new workspace has none
   * @throws AppError INVALID_BODY, also when another workspace has the slug
   */
  async create(input: CreateWorkspace, actor: Actor = SYSTEM): Promise<WorkspaceEntity> {
    const { trialEndsAt, rateLimit, messageRetentionDays, entitlements, ...given } = validate(
      CreateWorkspace,
      input,
    );
    const now = new Date();
    const workspace: WorkspaceEntity = {
      id: newId(),
      ...given,
      trialEndsAt: trialEndsAt ?? (given.planTier === 'TRIAL' ? trialEndFrom(now) : null),
      rateLimit: rateLimit ?? null,
      messageRetentionDays: messageRetentionDays ?? null,
      entitlements: entitlements ?? [],
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
        this.audit.appendPipelined(tx, {
          ...subjectOf(workspace, actor),
          action: 'workspace.created',
          after,
        });
      });
    } catch (error) {
      if (!violatesUnique(error, 'workspace_slugs_pkey')) throw error;
      throw AppError.invalidBody('slug', 'slug_taken');
    }
    return workspace;
  }

  /**
   * Finds a workspace by its slug.
   * @throws AppError NOT_FOUND; FORBIDDEN; INVALID_BODY: the actor is no agent of it, or it does not exist
   */
  async getBySlug(slug: string, actor: Actor): Promise<WorkspaceEntity> {
    const workspace = await this.workspaces.findBySlug(slug);
    // An agent of another workspace gets the same error whether this one exists or not.
    await requireReadPermission(this.database, workspace?.id ?? LOWEST_ID, actor, 'workspace.read');
    if (!workspace) throw new AppError('NOT_FOUND', `Workspace "${slug}" not found.`);
    return workspace;
  }

  /**
   * Changes a workspace's plan, trial, rate limit, retention of messages or entitlements. Each change has an
   * audit entry of its own. A workspace's OWNERs and ADMINs may change its retention alone, and only OWNERs
   * shorten it, which erases messages.
   * @throws AppError INVALID_BODY, FORBIDDEN, NOT_FOUND
   */
  async update(tenantId: string, input: UpdateWorkspace, actor: Actor): Promise<WorkspaceEntity> {
    const changes = validate(UpdateWorkspace, input);
    return this.database.transaction(async (tx) => {
      const given = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
      const fields = FIELDS.filter((field) => field in given);
      const before = await this.lock(tx, tenantId);
      const after: WorkspaceEntity = { ...before, ...given, updatedAt: new Date() };
      const permissions = new Set<Permission>(fields.map((field) => CHANGES[field].permission));
      if (isRetentionShorter(before, after)) {
        permissions.delete('workspace.update');
        permissions.add('workspace.shorten_retention');
      }
      if (permissions.size === 0) permissions.add('workspace.update');
      for (const permission of permissions) await requirePermission(tx, tenantId, actor, permission);
      await this.workspaces.update(tx, after);
      for (const field of fields) {
        const changed = changedValues(before, after, [field]);
        if (!changed) continue;
        this.audit.appendPipelined(tx, {
          ...subjectOf(after, actor),
          action: CHANGES[field].action,
          ...changed,
        });
      }
      return after;
    });
  }

  /**
   * Suspends a workspace: its keys are answered 403 `WORKSPACE_SUSPENDED`, and after this has returned no
   * process begins an attempt of a webhook delivery or of an outbound message. Messages of customers are
   * still stored; their events and the agents' answers wait. A second call changes nothing.
   * @throws AppError FORBIDDEN, NOT_FOUND
   */
  async suspend(tenantId: string, actor: Actor): Promise<WorkspaceEntity> {
    const workspace = await this.database.transaction(async (tx) => {
      const before = await this.lockPermitted(tx, tenantId, actor, 'workspace.suspend');
      await this.deletions.keepSuspended(tx, tenantId);
      if (before.suspendedAt) return before;
      return this.setSuspended(tx, before, true, actor);
    });
    await this.waitForClaims(tenantId);
    return workspace;
  }

  /**
   * Ends a suspension: waiting work is sent within a second or two, each delivery with the attempts that it
   * had left.
   * @throws AppError FORBIDDEN, NOT_FOUND; INVALID_BODY: the workspace is to be deleted
   */
  async resume(tenantId: string, actor: Actor): Promise<WorkspaceEntity> {
    return this.database.transaction(async (tx) => {
      const before = await this.lockPermitted(tx, tenantId, actor, 'workspace.resume');
      if (await this.deletions.lock(tx, tenantId))
        throw AppError.because('INVALID_BODY', 'deletion_scheduled');
      if (!before.suspendedAt) return before;
      return this.setSuspended(tx, before, false, actor);
    });
  }

  /**
   * Schedules the deletion of a workspace and of everything in it, and suspends it until then. When the
   * deletion is due, workers delete the rows in the background, the audit log last; then the slug is free
   * again. Another call changes the due date.
   * @throws AppError FORBIDDEN, NOT_FOUND; INVALID_BODY, also when deleting has begun
   */
  async delete(tenantId: string, input: DeleteWorkspace, actor: Actor): Promise<WorkspaceDeletion> {
    const { graceDays = DEFAULT_GRACE_DAYS } = validate(DeleteWorkspace, input);
    const deletion = await this.database.transaction(async (tx) => {
      const before = await this.lockPermitted(tx, tenantId, actor, 'workspace.delete');
      requireNotStarted(await this.deletions.lock(tx, tenantId));
      await this.deletions.schedule(tx, tenantId, graceDays, before.suspendedAt !== null);
      const metadata = { graceDays };
      this.audit.appendPipelined(tx, {
        ...subjectOf(before, actor),
        action: 'workspace.deletion_scheduled',
        metadata,
      });
      if (!before.suspendedAt) await this.setSuspended(tx, before, true, actor);
      return this.deletions.find(tenantId, tx);
    });
    await this.waitForClaims(tenantId);
    return deletion!;
  }

  /**
   * Cancels a scheduled deletion. The workspace is resumed, unless it was suspended before the deletion was
   * scheduled.
   * @throws AppError FORBIDDEN; NOT_FOUND, also when no deletion is scheduled; INVALID_BODY: deleting has
   *   begun
   */
  async cancelDeletion(tenantId: string, actor: Actor): Promise<WorkspaceEntity> {
    return this.database.transaction(async (tx) => {
      const before = await this.lockPermitted(tx, tenantId, actor, 'workspace.cancel_deletion');
      const deletion = await this.deletions.lock(tx, tenantId);
      if (!deletion) throw AppError.notFound('Deletion');
      requireNotStarted(deletion);
      await this.deletions.delete(tx, tenantId);
      this.audit.appendPipelined(tx, { ...subjectOf(before, actor), action: 'workspace.deletion_cancelled' });
      return deletion.wasSuspended ? before : this.setSuspended(tx, before, false, actor);
    });
  }

  /**
   * Returns the progress of a workspace's deletion.
   * @throws AppError FORBIDDEN; NOT_FOUND when none is scheduled, and after its end
   */
  async getDeletion(tenantId: string, actor: Actor): Promise<WorkspaceDeletion> {
    await requireReadPermission(this.database, tenantId, actor, 'workspace.read');
    const deletion = await this.deletions.find(tenantId);
    if (!deletion) throw AppError.notFound('Deletion');
    return deletion;
  }

  private async lock(tx: Transaction, tenantId: string): Promise<WorkspaceEntity> {
    const workspace = await this.workspaces.lock(tx, tenantId);
    if (!workspace) throw AppError.notFound('Workspace');
    return workspace;
  }

  /** Locks a workspace and then checks a permission, in the order that `WorkspacesRepository.lock` names. */
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
    this.audit.appendPipelined(tx, {
      ...subjectOf(after, actor),
      action: isSuspended ? 'workspace.suspended' : 'workspace.resumed',
      ...changedValues(before, after, ['suspendedAt']),
    });
    return after;
  }

  /**
   * Waits for the claims that began before a suspension. It does so in a transaction of its own: claims that
   * begin after the suspension's commit do not share the lock, so no number of them can hold this one up.
   */
  private async waitForClaims(tenantId: string): Promise<void> {
    await this.database.transaction((tx) => this.workspaces.lockExclusively(tx, tenantId));
  }
}

/** Reports whether messages that would have been kept are erased after a change. */
function isRetentionShorter(before: WorkspaceEntity, after: WorkspaceEntity): boolean {
  const daysOf = ({ messageRetentionDays }: WorkspaceEntity) => messageRetentionDays ?? Infinity;
  return daysOf(after) < daysOf(before);
}

function subjectOf({ id }: WorkspaceEntity, actor: Actor) {
  return { tenantId: id, actor, entity: 'workspace', entityId: id };
}

function requireNotStarted(deletion: DeletionProgress | null): void {
  if (deletion?.startedAt) throw AppError.because('INVALID_BODY', 'deletion_begun');
}
