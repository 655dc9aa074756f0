import { Injectable } from '@nestjs/common';
import { In } from 'typeorm';
import { isId } from '../common/ids';
import { Database, Reader } from '../database/database';
import { Transaction } from '../database/transaction';
import { WorkspaceEntity } from './workspace.entity';

@Injectable()
export class WorkspacesRepository {
  constructor(private readonly database: Database) {}

  async find(id: string): Promise<WorkspaceEntity | null> {
    return isId(id) ? this.database.manager.findOneBy(WorkspaceEntity, { id }) : null;
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

  async insert(tx: Transaction, workspace: WorkspaceEntity): Promise<void> {
    await tx.manager.insert(WorkspaceEntity, workspace);
  }

  async update(tx: Transaction, { id, ...values }: WorkspaceEntity): Promise<void> {
    await tx.manager.update(WorkspaceEntity, { id }, values);
  }
}
