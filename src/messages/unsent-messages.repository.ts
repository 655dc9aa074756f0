import { Injectable } from '@nestjs/common';
import { WorkspaceServer } from '../database/placement/placement';
import { Transaction } from '../database/transaction';
import { DUE_ROWS, DuePosition, DueStep, searchDue } from '../queue/polling/due-position';
import { keyParameters, MessageKey } from './message-status.repository';

const IS_MESSAGE = 'tenant_id = $1 AND conversation_id = $2 AND message_id = $3';

/** Stores recently unsent messages, because responses of webhook receivers may still repeat their texts. */
@Injectable()
export class UnsentMessagesRepository {
  /**
   * Stores that a message was unsent.
   * @param cursor id of the event after which the search for receivers' responses begins
   * @param afterMs milliseconds from now until this search begins
   */
  async insert(tx: Transaction, key: MessageKey, cursor: string, afterMs: number): Promise<void> {
    await tx.query(
      `INSERT INTO unsent_messages (tenant_id, conversation_id, message_id, cursor, due_at)
       VALUES ($1, $2, $3, $4, now() + $5 * interval '1 millisecond') ON CONFLICT DO NOTHING`,
      [...keyParameters(key), cursor, afterMs],
    );
  }

  /**
   * Finds up to 1,000 unsent messages of a database server for which the search for receivers' responses is
   * due. `next` is the position for the next call; null after the last message.
   */
  findDue(after: DuePosition, server: WorkspaceServer): Promise<DueStep<MessageKey>> {
    return searchDue<MessageKey>(
      server,
      after,
      `SELECT tenant_id AS "tenantId", conversation_id AS "conversationId", message_id AS "messageId",
              due_at::text AS "dueAt"
       FROM unsent_messages WHERE due_at <= now() AND due_at >= $1::timestamptz
       ORDER BY due_at LIMIT ${DUE_ROWS} OFFSET $2`,
    );
  }

  /**
   * Locks an unsent message whose search for receivers' responses is due, and returns its cursor. Null if
   * another process has locked it, or the search is no longer due.
   */
  async lockDue(tx: Transaction, key: MessageKey): Promise<string | null> {
    const [row] = await tx.query<{ cursor: string }>(
      `SELECT cursor FROM unsent_messages WHERE ${IS_MESSAGE} AND due_at <= now() FOR UPDATE SKIP LOCKED`,
      keyParameters(key),
    );
    return row?.cursor ?? null;
  }

  /** Sets the cursor of a locked message; null deletes its row. */
  async advance(tx: Transaction, key: MessageKey, cursor: string | null): Promise<void> {
    if (cursor === null)
      await tx.query(`DELETE FROM unsent_messages WHERE ${IS_MESSAGE}`, keyParameters(key));
    else
      await tx.query(`UPDATE unsent_messages SET cursor = $4 WHERE ${IS_MESSAGE}`, [
        ...keyParameters(key),
        cursor,
      ]);
  }
}
