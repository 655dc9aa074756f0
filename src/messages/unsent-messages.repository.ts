import { Injectable } from '@nestjs/common';
import { Database } from '../database/database';
import { Transaction } from '../database/transaction';
import { keyParameters, MessageKey } from './message-status.repository';

/** Number of messages that take turns in one run. */
const MAX_LISTED = 100;

const IS_MESSAGE = 'tenant_id = $1 AND conversation_id = $2 AND message_id = $3';

/** Keeps which messages were unsent just now: receivers may still repeat their texts. */
@Injectable()
export class UnsentMessagesRepository {
  constructor(private readonly database: Database) {}

  /**
   * Inserts a message.
   * @param cursor id after which the events begin whose answers may repeat it
   * @param afterMs time after which they are looked for
   */
  async insert(tx: Transaction, key: MessageKey, cursor: string, afterMs: number): Promise<void> {
    await tx.query(
      `INSERT INTO unsent_messages (tenant_id, conversation_id, message_id, cursor, due_at)
       VALUES ($1, $2, $3, $4, now() + $5 * interval '1 millisecond') ON CONFLICT DO NOTHING`,
      [...keyParameters(key), cursor, afterMs],
    );
  }

  /** Lists messages of all workspaces whose next step may begin, the longest due first. It locks nothing. */
  listDue(): Promise<MessageKey[]> {
    return this.database.placement.searchAll<MessageKey & { dueAt: Date }>(
      `SELECT tenant_id AS "tenantId", conversation_id AS "conversationId", message_id AS "messageId",
              due_at AS "dueAt"
       FROM unsent_messages WHERE due_at <= now() ORDER BY due_at LIMIT ${MAX_LISTED}`,
      { order: ({ dueAt }) => [dueAt], limit: MAX_LISTED, times: ['dueAt'] },
    );
  }

  /** Locks a message whose next step may begin, and returns its cursor; null when another process has it. */
  async lockDue(tx: Transaction, key: MessageKey): Promise<string | null> {
    const [row] = await tx.query<{ cursor: string }>(
      `SELECT cursor FROM unsent_messages WHERE ${IS_MESSAGE} AND due_at <= now() FOR UPDATE SKIP LOCKED`,
      keyParameters(key),
    );
    return row?.cursor ?? null;
  }

  /** Lets a message wait behind all others whose next step may begin now. */
  async postpone(tx: Transaction, key: MessageKey, delayMs: number): Promise<void> {
    await tx.query(
      `UPDATE unsent_messages SET due_at = now() + $4 * interval '1 millisecond' WHERE ${IS_MESSAGE}`,
      [...keyParameters(key), delayMs],
    );
  }

  /** Sets the cursor of a locked message, which then waits behind the others; null deletes its row. */
  async advance(tx: Transaction, key: MessageKey, cursor: string | null): Promise<void> {
    if (cursor === null)
      await tx.query(`DELETE FROM unsent_messages WHERE ${IS_MESSAGE}`, keyParameters(key));
    else
      await tx.query(`UPDATE unsent_messages SET cursor = $4, due_at = now() WHERE ${IS_MESSAGE}`, [
        ...keyParameters(key),
        cursor,
      ]);
  }
}
