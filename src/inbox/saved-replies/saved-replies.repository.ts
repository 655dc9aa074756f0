import { Injectable } from '@nestjs/common';
import { isId } from '../../common/ids';
import { Database } from '../../database/database';
import { Transaction } from '../../database/transaction';
import { MAX_SAVED_REPLIES, SavedReplyResponse } from './saved-reply.dto';

const COLUMNS = 'id, name, body, created_at AS "createdAt", updated_at AS "updatedAt"';

@Injectable()
export class SavedRepliesRepository {
  constructor(private readonly database: Database) {}

  list(tenantId: string): Promise<SavedReplyResponse[]> {
    return this.database.query(
      `SELECT ${COLUMNS} FROM saved_replies WHERE tenant_id = $1 ORDER BY lower(name) LIMIT ${MAX_SAVED_REPLIES}`,
      [tenantId],
    );
  }

  async count(tx: Transaction, tenantId: string): Promise<number> {
    const sql = 'SELECT count(*)::integer AS count FROM saved_replies WHERE tenant_id = $1';
    const [row] = await tx.query<{ count: number }>(sql, [tenantId]);
    return row!.count;
  }

  async lock(tx: Transaction, tenantId: string, id: string): Promise<SavedReplyResponse | null> {
    if (!isId(id)) return null;
    const [row] = await tx.query<SavedReplyResponse>(
      `SELECT ${COLUMNS} FROM saved_replies WHERE tenant_id = $1 AND id = $2 FOR UPDATE`,
      [tenantId, id],
    );
    return row ?? null;
  }

  /** Returns the id of the saved reply with this name, whatever its case; null if there is none. */
  async findIdByName(tx: Transaction, tenantId: string, name: string): Promise<string | null> {
    const [row] = await tx.query<{ id: string }>(
      'SELECT id FROM saved_replies WHERE tenant_id = $1 AND lower(name) = lower($2)',
      [tenantId, name],
    );
    return row?.id ?? null;
  }

  async save(tx: Transaction, tenantId: string, reply: SavedReplyResponse): Promise<void> {
    await tx.query(
      `INSERT INTO saved_replies (tenant_id, id, name, body, created_at, updated_at)
       VALUES ($1, $2, $3, $4, $5, $6)
       ON CONFLICT (tenant_id, id)
       DO UPDATE SET name = excluded.name, body = excluded.body, updated_at = excluded.updated_at`,
      [tenantId, reply.id, reply.name, reply.body, reply.createdAt, reply.updatedAt],
    );
  }

  async delete(tx: Transaction, tenantId: string, id: string): Promise<void> {
    await tx.query('DELETE FROM saved_replies WHERE tenant_id = $1 AND id = $2', [tenantId, id]);
  }
}
