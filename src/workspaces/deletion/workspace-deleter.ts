import { Injectable, Logger, OnModuleInit } from '@nestjs/common';
import { AUDIT_TABLE, AuditEntriesRepository } from '../../audit/audit-entries.repository';
import { isReferenceViolated } from '../../database/driver/database-errors';
import { StepRounds } from '../../queue/polling/step-rounds';
import { Database } from '../../database/database';
import { OwnerDatabase } from '../../database/owner-database';
import { Transaction } from '../../database/transaction';
import { Polls } from '../../queue/polling/polls';
import { TableRegistry } from '../../database/tables/table-registry';
import { TableRowsRepository } from '../../database/tables/table-rows.repository';
import { WorkspacesRepository } from '../workspaces.repository';
import {
  DeletionProgress,
  DueDeletion,
  WorkspaceDeletionsRepository,
} from '../workspace-deletions.repository';

const BATCH = 500;
/** Pause between steps, so that a deletion does not slow other work. */
const PAUSE_MS = 25;

/** Ends what other systems hold of a workspace, such as hooks at providers. A second call changes nothing. */
type Closing = (tenantId: string) => Promise<void>;

/**
 * Deletes all rows of workspaces whose deletion is due, in small steps. Rows and progress change together, so
 * that another worker can go on after a killed one. The workspace itself is deleted when no table has a row
 * of it.
 */
@Injectable()
export class WorkspaceDeleter implements OnModuleInit {
  private readonly logger = new Logger(WorkspaceDeleter.name);
  private readonly closings: Closing[] = [];
  private readonly rounds = new StepRounds<DueDeletion>({
    size: BATCH,
    pauseMs: PAUSE_MS,
    list: () => this.deletions.listDue(),
    keyOf: ({ tenantId }) => tenantId,
    step: (deletion, size) => this.step(deletion, size),
    onError: ({ tenantId }, error) =>
      this.logger.error({ err: error, tenantId }, 'a step of a deletion failed; it will be retried'),
  });

  constructor(
    private readonly database: Database,
    private readonly owner: OwnerDatabase,
    private readonly workspaces: WorkspacesRepository,
    private readonly deletions: WorkspaceDeletionsRepository,
    private readonly tables: TableRegistry,
    private readonly rows: TableRowsRepository,
    private readonly auditEntries: AuditEntriesRepository,
    private readonly polls: Polls,
  ) {}

  /** Registers work that must be done before a workspace's rows are deleted. */
  register(closing: Closing): void {
    this.closings.push(closing);
  }

  onModuleInit(): void {
    this.polls.register('deletions', () => this.rounds.run(() => this.polls.areHeld));
  }

  /** Runs one step, and returns whether there is more to do now. */
  private async step(deletion: DueDeletion, size: number): Promise<boolean> {
    try {
      return await this.makeStep(deletion, size);
    } catch (error) {
      // A row was added that refers to one of the deleted rows.
      if (isReferenceViolated(error)) await this.beginAnew(deletion.tenantId);
      throw error;
    }
  }

  private async makeStep({ tenantId, startedAt, table }: DueDeletion, size: number): Promise<boolean> {
    if (!startedAt && !(await this.deletions.startDeletion(tenantId))) return false;
    if (table === null) {
      for (const close of this.closings) await close(tenantId);
    }
    if (table === AUDIT_TABLE) return this.deleteAuditEntries(tenantId, size);
    return this.database.queueTransaction(async (tx) => {
      const now = await this.deletions.lockRunning(tx, tenantId);
      if (!now) return false;
      await this.deleteRows(tx, tenantId, now, size);
      return true;
    });
  }

  private async deleteRows(
    tx: Transaction,
    tenantId: string,
    progress: DeletionProgress,
    size: number,
  ): Promise<void> {
    if (progress.table === AUDIT_TABLE) return;
    const tables = this.tables.listForDeletion();
    const known = tables.findIndex(({ name }) => name === progress.table);
    // Another version may have stopped at a table that this version does not know: then the first table
    // begins again.
    const [at, cursor] = known === -1 ? [0, null] : [known, progress.cursor];
    const table = tables[at]!;
    // PostgreSQL may have to pass over many dead rows of a table that refers to this one.
    await tx.allowLongStatements();
    const { deleted, next } = await this.rows.deleteStep(tx, tenantId, table, cursor, size);
    const name = next ? table.name : (tables[at + 1]?.name ?? AUDIT_TABLE);
    await this.deletions.advance(tx, tenantId, { table: name, cursor: next }, deleted);
  }

  private async deleteAuditEntries(tenantId: string, size: number): Promise<boolean> {
    const deleted = await this.auditEntries.deleteStep(this.owner, tenantId, size);
    if (deleted === 0) return this.finish(tenantId);
    await this.database.transaction((tx) =>
      this.deletions.advance(tx, tenantId, { table: AUDIT_TABLE, cursor: null }, deleted),
    );
    return true;
  }

  /**
   * Deletes the workspace itself, under its lock, so that no row can be added that refers to it. If rows were
   * added before, the deletion of the tables begins again.
   */
  private async finish(tenantId: string): Promise<boolean> {
    const end = await this.database.transaction(async (tx) => {
      await tx.allowLongStatements();
      await this.workspaces.lockExclusively(tx, tenantId);
      if (!(await this.deletions.lockRunning(tx, tenantId))) return 'busy';
      const names = [...this.tables.listForDeletion().map(({ name }) => name), AUDIT_TABLE];
      if (await this.rows.hasRows(tx, tenantId, names)) return 'rows left';
      await this.deletions.delete(tx, tenantId);
      await this.workspaces.delete(tx, tenantId);
      return 'deleted';
    });
    if (end === 'rows left') await this.beginAnew(tenantId);
    if (end === 'deleted') this.logger.log({ tenantId }, 'a workspace was deleted');
    return end === 'rows left';
  }

  private async beginAnew(tenantId: string): Promise<void> {
    await this.database.transaction((tx) =>
      this.deletions.advance(tx, tenantId, { table: null, cursor: null }, 0),
    );
  }
}
