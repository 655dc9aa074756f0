import { Injectable } from '@nestjs/common';
import { isId } from '../../common/ids';
import { Database } from '../../database/database';
import { PageStatement } from '../../database/page-statement';
import { Transaction } from '../../database/transaction';
import { ConversationKey, ErasedMessages } from '../../database/tables/table-declaration';
import { NoteResponse } from './note.dto';

export type Note = NoteResponse & ConversationKey;

const LISTED = 'id, author_agent_id AS "authorAgentId", body, created_at AS "createdAt"';

@Injectable()
export class NotesRepository {
  constructor(private readonly database: Database) {}

  /** Lists up to `count` notes of a conversation with ids below the cursor, newest first. */
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

  /** Lists up to `count` notes of a conversation with ids above `after`, oldest first. */
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

  async insert(tx: Transaction, note: Note): Promise<void> {
    await tx.query(
      `INSERT INTO notes (tenant_id, id, conversation_id, author_agent_id, body, created_at)
       VALUES ($1, $2, $3, $4, $5, $6)`,
      [note.tenantId, note.id, note.conversationId, note.authorAgentId, note.body, note.createdAt],
    );
  }

  async lock(tx: Transaction, tenantId: string, id: string): Promise<Note | null> {
    if (!isId(id)) return null;
    const [row] = await tx.query<Note>(
      `SELECT ${LISTED}, tenant_id AS "tenantId", conversation_id AS "conversationId" FROM notes
       WHERE tenant_id = $1 AND id = $2 FOR UPDATE`,
      [tenantId, id],
    );
    return row ?? null;
  }

  async delete(tx: Transaction, { tenantId, id }: Note): Promise<void> {
    await tx.query('DELETE FROM notes WHERE tenant_id = $1 AND id = $2', [tenantId, id]);
  }

  /** Deletes the notes among the erased events. A note and the event of its audit entry have the same id. */
  async erase(tx: Transaction, { tenantId, conversationId, eventIds }: ErasedMessages): Promise<void> {
    await tx.query('DELETE FROM notes WHERE tenant_id = $1 AND id = ANY ($2) AND conversation_id = $3', [
      tenantId,
      eventIds,
      conversationId,
    ]);
  }
}
