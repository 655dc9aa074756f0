import { Injectable } from '@nestjs/common';
import { isId } from '../../common/ids';
import { Database } from '../../database/database';
import { Transaction } from '../../database/transaction';
import { MAX_SAVED_REPLIES } from './saved-reply.dto';
import { SavedReplyEntity } from './saved-reply.entity';

@Injectable()
export class SavedRepliesRepository {
  constructor(private readonly database: Database) {}

  /** Lists the saved replies of a workspace by name. */
  list(tenantId: string): Promise<SavedReplyEntity[]> {
    return this.database.query(
      `SELECT tenant_id AS "tenantId", id, name, body, created_at AS "createdAt", updated_at AS "updatedAt"
       FROM saved_replies WHERE tenant_id = $1 ORDER BY lower(name) LIMIT ${MAX_SAVED_REPLIES}`,
      [tenantId],
    );
  }

  /** Returns the number of a workspace's saved replies. */
  count(tx: Transaction, tenantId: string): Promise<number> {
    return tx.manager.countBy(SavedReplyEntity, { tenantId });
  }

  async lock(tx: Transaction, tenantId: string, id: string): Promise<SavedReplyEntity | null> {
    if (!isId(id)) return null;
    return tx.manager.findOne(SavedReplyEntity, {
      where: { tenantId, id },
      lock: { mode: 'pessimistic_write' },
    });
  }

  /** Returns the id of the saved reply with a name in any case. */
  async findIdByName(tx: Transaction, tenantId: string, name: string): Promise<string | null> {
    const [row] = await tx.query<{ id: string }>(
      'SELECT id FROM saved_replies WHERE tenant_id = $1 AND lower(name) = lower($2)',
      [tenantId, name],
    );
    return row?.id ?? null;
  }

  async insert(tx: Transaction, reply: SavedReplyEntity): Promise<void> {
    await tx.manager.insert(SavedReplyEntity, reply);
  }

  async update(tx: Transaction, { tenantId, id, ...values }: SavedReplyEntity): Promise<void> {
    await tx.manager.update(SavedReplyEntity, { tenantId, id }, values);
  }

  async delete(tx: Transaction, { tenantId, id }: SavedReplyEntity): Promise<void> {
    await tx.manager.delete(SavedReplyEntity, { tenantId, id });
  }
}
