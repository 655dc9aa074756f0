import { Injectable } from '@nestjs/common';
import { In } from 'typeorm';
import { isId } from '../common/ids';
import { Database, Reader } from '../database/database';
import { Transaction } from '../database/transaction';
import { WorkspaceEntity } from './workspace.entity';

/**
 * Period of a workspace's messages to erase: those that it no longer keeps, by the database's clock, and that
 * no earlier run has erased.
 */
export interface MessageRetention {
  tenantId: string;
  /** Start of the period; null when no run has ended yet. */
  from: Date | null;
  until: Date;
}

@Injectable()
export class WorkspacesRepository {
  constructor(private readonly database: Database) {}

  async find(id: string, reader: Reader = this.database): Promise<WorkspaceEntity | null> {
    return isId(id) ? reader.manager.findOneBy(WorkspaceEntity, { id }) : null;
  }

  async findBySlug(slug: string): Promise<WorkspaceEntity | null> {
    const [found] = await this.database.query<{ tenantId: string }>(
      'SELECT tenant_id AS "tenantId" FROM workspace_slugs WHERE slug = $1',
      [slug],
    );
    return found ? this.find(found.tenantId) : null;
  }

  findMany(reader: Reader, ids: string[]): Promise<WorkspaceEntity[]> {
    return reader.manager.findBy(WorkspaceEntity, { id: In(ids) });
  }

  /** Lists ids of workspaces above an id, in their order. */
  async listIds(after: string, count: number): Promise<string[]> {
    const rows = await this.database.query<{ id: string }>(
      'SELECT id FROM workspaces WHERE id > $1 ORDER BY id LIMIT $2',
      [after, count],
    );
    return rows.map(({ id }) => id);
  }

  /** Lists the ids of all suspended workspaces, in their order. */
  async listSuspended(): Promise<string[]> {
    const rows = await this.database.query<{ id: string }>(
      'SELECT id FROM workspaces WHERE suspended_at IS NOT NULL ORDER BY id',
    );
    return rows.map(({ id }) => id);
  }

  /** Lists workspaces above an id that keep messages for a limited time, in the order of their ids. */
  listMessageRetentions(after: string, count: number): Promise<MessageRetention[]> {
    return this.database.query<MessageRetention>(
      `SELECT id AS "tenantId", messages_erased_until AS "from", now() - message_retention_days * interval '1 day' AS until
       FROM workspaces WHERE id > $1 AND message_retention_days IS NOT NULL ORDER BY id LIMIT $2`,
      [after, count],
    );
  }

  /** Records that the messages of a workspace are erased up to a time. */
  async setMessagesErased(id: string, until: Date): Promise<void> {
    await this.database.query('UPDATE workspaces SET messages_erased_until = $2 WHERE id = $1', [id, until]);
  }

  /**
   * Locks a workspace's row. To avoid deadlocks, a transaction takes this lock before those of agents, the
   * actor's in `requirePermission` included, and locks agents before people.
   */
  async lock(tx: Transaction, id: string): Promise<WorkspaceEntity | null> {
    if (!isId(id)) return null;
    return tx.manager.findOne(WorkspaceEntity, { where: { id }, lock: { mode: 'for_no_key_update' } });
  }

  /**
   * Shares the row's lock until the transaction ends: a suspension waits for it.
   * @returns false when the workspace is suspended
   */
  async lockSending(tx: Transaction, id: string): Promise<boolean> {
    const rows = await tx.query(
      'SELECT FROM workspaces WHERE id = $1 AND suspended_at IS NULL FOR KEY SHARE',
      [id],
    );
    return rows.length > 0;
  }

  /**
   * Locks a workspace's row after waiting for all who share the lock. It writes the row, so that a claim that
   * began with the row's earlier version notices this lock.
   */
  async lockExclusively(tx: Transaction, id: string): Promise<void> {
    tx.outlastClaimsPipelined();
    await tx.query('SELECT FROM workspaces WHERE id = $1 FOR UPDATE', [id]);
    await tx.query('UPDATE workspaces SET suspended_at = suspended_at WHERE id = $1', [id]);
  }

  /** Deletes a workspace, and frees its slug. */
  async delete(tx: Transaction, id: string): Promise<void> {
    const [deleted] = await tx.query<{ slug: string }>(
      'DELETE FROM workspaces WHERE id = $1 RETURNING slug',
      [id],
    );
    if (deleted) await tx.query('DELETE FROM workspace_slugs WHERE slug = $1', [deleted.slug]);
  }

  async insert(tx: Transaction, workspace: WorkspaceEntity): Promise<void> {
    const { id, slug } = workspace;
    await tx.query('INSERT INTO workspace_slugs (slug, tenant_id) VALUES ($1, $2)', [slug, id]);
    await tx.manager.insert(WorkspaceEntity, workspace);
  }

  async update(tx: Transaction, { id, ...values }: WorkspaceEntity): Promise<void> {
    await tx.manager.update(WorkspaceEntity, { id }, values);
  }
}
