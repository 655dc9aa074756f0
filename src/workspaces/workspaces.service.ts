import { Injectable } from '@nestjs/common';
import { AuditService } from '../audit/audit.service';
import { AppError } from '../common/app-error';
import { violatesUnique } from '../common/database-errors';
import { newId } from '../common/ids';
import { Actor } from '../common/principal';
import { validate } from '../common/validate';
import { Database } from '../database/database';
import { trialEndFrom } from './plan-policy';
import { CreateWorkspace, UpdateWorkspace } from './workspace.dto';
import { WorkspaceEntity } from './workspace.entity';
import { WorkspacesRepository } from './workspaces.repository';

/** Manages workspaces, for the dashboard and the CLI. */
@Injectable()
export class WorkspacesService {
  constructor(
    private readonly database: Database,
    private readonly workspaces: WorkspacesRepository,
    private readonly audit: AuditService,
  ) {}

  /**
   * Creates a workspace. On the TRIAL plan, `trialEndsAt` defaults to 14 days from now.
   * @throws AppError INVALID_BODY, also when another workspace has the slug
   */
  async create(input: CreateWorkspace): Promise<WorkspaceEntity> {
    const { trialEndsAt, rateLimit, entitlements, ...given } = validate(CreateWorkspace, input);
    const now = new Date();
    const workspace: WorkspaceEntity = {
      id: newId(),
      ...given,
      trialEndsAt: trialEndsAt ?? (given.planTier === 'TRIAL' ? trialEndFrom(now) : null),
      rateLimit: rateLimit ?? null,
      entitlements: entitlements ?? [],
      createdAt: now,
      updatedAt: now,
    };
    try {
      await this.database.transaction((tx) => this.workspaces.insert(tx, workspace));
    } catch (error) {
      if (!violatesUnique(error, 'workspaces_slug_key')) throw error;
      throw AppError.invalidBody('slug', 'is taken by another workspace');
    }
    return workspace;
  }

  /** @throws AppError NOT_FOUND */
  async getBySlug(slug: string): Promise<WorkspaceEntity> {
    const workspace = await this.workspaces.findBySlug(slug);
    if (!workspace) throw AppError.notFound(`Workspace "${slug}"`);
    return workspace;
  }

  /**
   * Changes a workspace's plan, trial, rate limit or entitlements. Changes of plan and rate limit are audited.
   * @throws AppError INVALID_BODY, NOT_FOUND
   */
  async update(tenantId: string, input: UpdateWorkspace, actor: Actor): Promise<WorkspaceEntity> {
    const changes = validate(UpdateWorkspace, input);
    return this.database.transaction(async (tx) => {
      const before = await this.workspaces.lock(tx, tenantId);
      if (!before) throw AppError.notFound('Workspace');
      const given = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
      const after: WorkspaceEntity = { ...before, ...given, updatedAt: new Date() };
      await this.workspaces.update(tx, after);
      const subject = { tenantId, actor, entity: 'workspace', entityId: tenantId };
      if (after.planTier !== before.planTier) {
        const metadata = { from: before.planTier, to: after.planTier };
        await this.audit.append(tx, { ...subject, action: 'workspace.plan_changed', metadata });
      }
      if (after.rateLimit !== before.rateLimit) {
        const metadata = { from: before.rateLimit, to: after.rateLimit };
        await this.audit.append(tx, { ...subject, action: 'workspace.rate_limit_changed', metadata });
      }
      return after;
    });
  }
}
