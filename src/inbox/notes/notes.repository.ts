import { Injectable } from '@nestjs/common';
import { isId } from '../../common/ids';
import { Database } from '../../database/database';
import { PageStatement } from '../../database/page-statement';
import { Transaction } from '../../database/transaction';
import { ConversationKey, ErasedMessages } from '../../database/tables/table-declaration';
import { NoteResponse } from './note.dto';
import { NoteEntity } from './note.entity';

const LISTED = 'id, author_agent_id AS "authorAgentId", body, created_at AS "createdAt"';

@Injectable()
export class NotesRepository {
  constructor(private readonly database: Database) {}

  /** Lists up to `count` notes of a conversation, newest first, with ids below the cursor. */
  list(
    { tenantId, conversationId }: ConversationKey,
    cursor: string | undefined,
    count: number,
  ): Promise<NoteResponse[]> {
    return new PageStatement(LISTED, 'notes')
      .where('tenant_id = ?', tenantId)
      .where('conversation_id = ?', conversationId)
      .read(this.database, cursor, count);
  }

  /** Lists up to `count` notes of a conversation, oldest first, with ids above `after`. */
  listFrom(
    { tenantId, conversationId }: ConversationKey,
    after: string,
    count: number,
  ): Promise<NoteResponse[]> {
    return this.database.query<NoteResponse>(
      `SELECT ${LISTED} FROM notes
       WHERE tenant_id = $1 AND conversation_id = $2 AND id > $3 ORDER BY id LIMIT $4`,
      [tenantId, conversationId, after, count],
    );
  }

  async insert(tx: Transaction, note: NoteEntity): Promise<void> {
    await tx.manager.insert(NoteEntity, note);
  }

  /** Locks a note until the end of the transaction. */
  async lock(tx: Transaction, tenantId: string, id: string): Promise<NoteEntity | null> {
    if (!isId(id)) return null;
    return tx.manager.findOne(NoteEntity, { where: { tenantId, id }, lock: { mode: 'pessimistic_write' } });
  }

  async delete(tx: Transaction, { tenantId, id }: NoteEntity): Promise<void> {
    await tx.query('DELETE FROM notes WHERE tenant_id = $1 AND id = $2', [tenantId, id]);
  }

  /** Deletes the notes of a step of an erasure, which finds them by the entries of their creation. */
  async erase(tx: Transaction, { tenantId, conversationId, eventIds }: ErasedMessages): Promise<void> {
    await tx.query('DELETE FROM notes WHERE tenant_id = $1 AND id = ANY ($2) AND conversation_id = $3', [
      tenantId,
      eventIds,
      conversationId,
    ]);
  }
}
