import { Injectable } from '@nestjs/common';
import { isId } from '../common/ids';
import { Database, Reader } from '../database/database';
import { Transaction } from '../database/transaction';
import { WorkspaceEntity } from './workspace.entity';

const WORKSPACE = `id, name, slug, plan_tier AS "planTier", trial_ends_at AS "trialEndsAt", rate_limit AS "rateLimit",
  message_retention_days AS "messageRetentionDays", entitlements, suspended_at AS "suspendedAt",
  resumed_at AS "resumedAt", created_at AS "createdAt", updated_at AS "updatedAt"`;

/** Period of time whose messages the next run must erase in a workspace. */
export interface MessageRetention {
  tenantId: string;
  /** Start: the time up to which the last completed run has erased; null if no run was completed. */
  from: Date | null;
  until: Date;
}

@Injectable()
export class WorkspacesRepository {
  constructor(private readonly database: Database) {}

  async find(id: string, reader: Reader = this.database): Promise<WorkspaceEntity | null> {
    if (!isId(id)) return null;
    const sql = `SELECT ${WORKSPACE} FROM workspaces WHERE id = $1`;
    return (await reader.query<WorkspaceEntity>(sql, [id]))[0] ?? null;
  }

  async findBySlug(slug: string): Promise<WorkspaceEntity | null> {
    const [found] = await this.database.query<{ tenantId: string }>(
      'SELECT tenant_id AS "tenantId" FROM workspace_slugs WHERE slug = $1',
      [slug],
    );
    return found ? this.find(found.tenantId) : null;
  }

  findMany(reader: Reader, ids: string[]): Promise<WorkspaceEntity[]> {
    return reader.query(`SELECT ${WORKSPACE} FROM workspaces WHERE id = ANY ($1::uuid[])`, [ids]);
  }

  listAll(): Promise<WorkspaceEntity[]> {
    return this.database.query(`SELECT ${WORKSPACE} FROM workspaces ORDER BY id DESC`);
  }

  /** Lists up to `count` ids of workspaces above an id, ascending. */
  async listIds(after: string, count: number): Promise<string[]> {
    const rows = await this.database.query<{ id: string }>(
      'SELECT id FROM workspaces WHERE id > $1 ORDER BY id LIMIT $2',
      [after, count],
    );
    return rows.map(({ id }) => id);
  }

  async listSuspended(): Promise<string[]> {
    const rows = await this.database.query<{ id: string }>(
      'SELECT id FROM workspaces WHERE suspended_at IS NOT NULL ORDER BY id',
    );
    return rows.map(({ id }) => id);
  }

  /** Lists the periods to erase of up to `count` workspaces with ids above `after`, ascending by id. */
  listMessageRetentions(after: string, count: number): Promise<MessageRetention[]> {
    return this.database.query<MessageRetention>(
      `SELECT id AS "tenantId", messages_erased_until AS "from", now() - message_retention_days * interval '1 day' AS until
       FROM workspaces WHERE id > $1 AND message_retention_days IS NOT NULL ORDER BY id LIMIT $2`,
      [after, count],
    );
  }

  async setMessagesErased(id: string, until: Date): Promise<void> {
    await this.database.query('UPDATE workspaces SET messages_erased_until = $2 WHERE id = $1', [id, until]);
  }

  /**
   * Locks a workspace's row. To avoid deadlocks, a transaction locks workspaces before agents, and agents
   * before people. `requirePermission` locks the acting agent, so call it after this.
   */
  async lock(tx: Transaction, id: string): Promise<WorkspaceEntity | null> {
    if (!isId(id)) return null;
    const sql = `SELECT ${WORKSPACE} FROM workspaces WHERE id = $1 FOR NO KEY UPDATE`;
    return (await tx.query<WorkspaceEntity>(sql, [id]))[0] ?? null;
  }

  /**
   * Locks a workspace's row in share mode. A suspension waits until transactions with this lock have ended.
   * @returns false if the workspace is suspended
   */
  async lockSending(tx: Transaction, id: string): Promise<boolean> {
    const rows = await tx.query(
      'SELECT FROM workspaces WHERE id = $1 AND suspended_at IS NULL FOR KEY SHARE',
      [id],
    );
    return rows.length > 0;
  }

  /**
   * Locks a workspace's row exclusively, when all transactions that share its lock have ended. Also writes
   * the row, so that a transaction which has read the former version notices the change.
   */
  async lockExclusively(tx: Transaction, id: string): Promise<void> {
    tx.outlastClaimsPipelined();
    await tx.query('SELECT FROM workspaces WHERE id = $1 FOR UPDATE', [id]);
    await tx.query('UPDATE workspaces SET suspended_at = suspended_at WHERE id = $1', [id]);
  }

  async delete(tx: Transaction, id: string): Promise<void> {
    const [deleted] = await tx.query<{ slug: string }>(
      'DELETE FROM workspaces WHERE id = $1 RETURNING slug',
      [id],
    );
    if (deleted) await tx.query('DELETE FROM workspace_slugs WHERE slug = $1', [deleted.slug]);
  }

  async insert(tx: Transaction, workspace: WorkspaceEntity): Promise<void> {
    const {
      id,
      name,
      slug,
      planTier,
      trialEndsAt,
      rateLimit,
      messageRetentionDays,
      entitlements,
      createdAt,
    } = workspace;
    await tx.query('INSERT INTO workspace_slugs (slug, tenant_id) VALUES ($1, $2)', [slug, id]);
    await tx.query(
      `INSERT INTO workspaces (id, created_at, name, slug, plan_tier, trial_ends_at, rate_limit, message_retention_days,
         entitlements, updated_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $2)`,
      [id, createdAt, name, slug, planTier, trialEndsAt, rateLimit, messageRetentionDays, entitlements],
    );
  }

  async update(tx: Transaction, workspace: WorkspaceEntity): Promise<void> {
    const { id, planTier, trialEndsAt, rateLimit, messageRetentionDays, entitlements } = workspace;
    const { suspendedAt, resumedAt, updatedAt } = workspace;
    const plan = [planTier, trialEndsAt, rateLimit, messageRetentionDays, entitlements];
    await tx.query(
      `UPDATE workspaces SET plan_tier = $2, trial_ends_at = $3, rate_limit = $4, message_retention_days = $5,
         entitlements = $6, suspended_at = $7, resumed_at = $8, updated_at = $9 WHERE id = $1`,
      [id, ...plan, suspendedAt, resumedAt, updatedAt],
    );
  }
}
