import { Injectable, Logger } from '@nestjs/common';
import { AUDIT_TABLE } from '../../audit/audit-entries.repository';
import { isReferenceViolated } from '../../database/driver/database-errors';
import { Database } from '../../database/database';
import { BEFORE_ALL_DUE } from '../../queue/polling/due-position';
import { StepOutcome } from '../../queue/polling/fair-items';
import { WorkRunner } from '../../queue/polling/work-runner';
import { WorkspacesRepository } from '../workspaces.repository';
import { WorkspaceDeletionsRepository } from '../workspace-deletions.repository';
import { TenantRows } from './tenant-rows';

const BATCH = 500;
/** Milliseconds of pause after each batch of rows, so that a deletion does not slow other work. */
const PAUSE_MS = 25;

/**
 * Function that makes one step of the removal of a workspace's hooks, files and the like at other systems. It
 * is called until it returns `done`, and may be called again then.
 */
export type Closing = (tenantId: string) => Promise<'more' | 'done'>;

/** Deletes workspaces whose deletion is due: first their rows in all other tables, and then themselves. */
@Injectable()
export class WorkspaceDeleter {
  private readonly logger = new Logger(WorkspaceDeleter.name);
  private readonly closings: Closing[] = [];

  constructor(
    runner: WorkRunner,
    private readonly database: Database,
    private readonly workspaces: WorkspacesRepository,
    private readonly deletions: WorkspaceDeletionsRepository,
    private readonly rows: TenantRows,
  ) {
    runner.registerFree({
      name: 'deletions',
      search: { first: BEFORE_ALL_DUE, find: (after, server) => deletions.findDue(after, server) },
      size: BATCH,
      pauseMs: PAUSE_MS,
      step: ({ tenantId }, size) => this.step(tenantId, size),
    });
  }

  /** Registers a function that is called before a workspace's rows are deleted. */
  register(closing: Closing): void {
    this.closings.push(closing);
  }

  private async step(tenantId: string, size: number): Promise<StepOutcome> {
    try {
      return await this.makeStep(tenantId, size);
    } catch (error) {
      // A new row refers to a row to delete, so a table that was already emptied is no longer empty.
      if (isReferenceViolated(error)) await this.beginAnew(tenantId);
      throw error;
    }
  }

  private async makeStep(tenantId: string, size: number): Promise<StepOutcome> {
    const progress = await this.deletions.findProgress(tenantId);
    if (!progress) return 'done';
    if (!progress.startedAt && !(await this.deletions.startDeletion(tenantId))) return 'waiting';
    if (progress.table === null)
      for (const close of this.closings) if ((await close(tenantId)) === 'more') return 'more';
    if (progress.table === AUDIT_TABLE) return this.deleteAuditEntries(tenantId, size);
    return this.database.queueTransaction(async (tx) => {
      const now = await this.deletions.lockRunning(tx, tenantId);
      if (!now) return 'waiting';
      if (now.table === AUDIT_TABLE) return 'more';
      const { deleted, next } = await this.rows.deleteStep(tx, tenantId, now, size);
      await this.deletions.advance(tx, tenantId, next, deleted);
      return 'more';
    });
  }

  private async deleteAuditEntries(tenantId: string, size: number): Promise<StepOutcome> {
    const deleted = await this.rows.deleteAuditEntries(tenantId, size);
    if (deleted === 0) return this.finish(tenantId);
    await this.database.transaction((tx) =>
      this.deletions.advance(tx, tenantId, { table: AUDIT_TABLE, cursor: null }, deleted),
    );
    return 'more';
  }

  /**
   * Deletes the workspace's own row, under a lock that prevents new rows which refer to it. If a table has
   * got rows since it was emptied, the deletion begins again with the first table.
   */
  private async finish(tenantId: string): Promise<StepOutcome> {
    const end = await this.database.transaction(async (tx) => {
      await tx.allowLongStatements();
      await this.workspaces.lockExclusively(tx, tenantId);
      if (!(await this.deletions.lockRunning(tx, tenantId))) return 'waiting';
      if (await this.rows.hasAny(tx, tenantId)) return 'more';
      await this.deletions.delete(tx, tenantId);
      await this.workspaces.delete(tx, tenantId);
      return 'done';
    });
    if (end === 'more') await this.beginAnew(tenantId);
    if (end === 'done') this.logger.log({ tenantId }, 'a workspace was deleted');
    return end;
  }

  private async beginAnew(tenantId: string): Promise<void> {
    await this.database.transaction((tx) =>
      this.deletions.advance(tx, tenantId, { table: null, cursor: null }, 0),
    );
  }
}
