import { Injectable } from '@nestjs/common';
import { In } from 'typeorm';
import { isId } from '../common/ids';
import { Database, Reader } from '../database/database';
import { Transaction } from '../database/transaction';
import { WorkspaceEntity } from './workspace.entity';

@Injectable()
export class WorkspacesRepository {
  constructor(private readonly database: Database) {}

  async find(id: string, reader: Reader = this.database): Promise<WorkspaceEntity | null> {
    return isId(id) ? reader.manager.findOneBy(WorkspaceEntity, { id }) : null;
  }

  findBySlug(slug: string): Promise<WorkspaceEntity | null> {
    return this.database.manager.findOneBy(WorkspaceEntity, { slug });
  }

  findMany(reader: Reader, ids: string[]): Promise<WorkspaceEntity[]> {
    return reader.manager.findBy(WorkspaceEntity, { id: In(ids) });
  }

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
   * Waits for whoever shares the lock now. It writes the row, because a claim that has begun with the row as it was would
   * not see that this lock was held.
   */
  async lockExclusively(tx: Transaction, id: string): Promise<void> {
    await tx.query('SELECT FROM workspaces WHERE id = $1 FOR UPDATE', [id]);
    await tx.query('UPDATE workspaces SET suspended_at = suspended_at WHERE id = $1', [id]);
  }

  async delete(tx: Transaction, id: string): Promise<void> {
    await tx.manager.delete(WorkspaceEntity, { id });
  }

  async insert(tx: Transaction, workspace: WorkspaceEntity): Promise<void> {
    await tx.manager.insert(WorkspaceEntity, workspace);
  }

  async update(tx: Transaction, { id, ...values }: WorkspaceEntity): Promise<void> {
    await tx.manager.update(WorkspaceEntity, { id }, values);
  }
}
