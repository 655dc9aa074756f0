import { Injectable } from '@nestjs/common';
import { IS_LOST } from '../conversations/lost-replies';
import { Pipelined, Transaction } from '../database/transaction';
import { ConversationKey } from '../database/tables/table-declaration';
import { keyParameters, MessageKey } from './message-status.repository';

/** Limit of the messages that the closing of a conversation dismisses. */
const MAX_DISMISSED = 1_000;

const BY_KEY = 'tenant_id = $1 AND conversation_id = $2 AND id = $3';

/** Knows the messages that were not delivered, or perhaps not, and those that are dealt with. */
@Injectable()
export class LostMessagesRepository {
  /**
   * Reports whether a conversation has a message that was not delivered, or perhaps not, and that no other
   * one repeats.
   */
  async mayBeRepeated(tx: Transaction, key: MessageKey): Promise<boolean> {
    const found = await tx.query(
      `SELECT 1 FROM messages WHERE ${BY_KEY} AND delivery_status IN ('FAILED', 'UNKNOWN')
         AND NOT EXISTS (SELECT FROM messages WHERE tenant_id = $1 AND conversation_id = $2 AND repeats_id = $3)`,
      keyParameters(key),
    );
    return found.length > 0;
  }

  dismissPipelined(tx: Transaction, key: MessageKey, at: Date): Pipelined {
    return tx.pipeline(`UPDATE messages SET dismissed_at = $4 WHERE ${BY_KEY} AND ${IS_LOST}`, [
      ...keyParameters(key),
      at,
    ]);
  }

  /** Dismisses the lost messages of a conversation, the newest 1,000 of them. */
  dismissAllPipelined(tx: Transaction, { tenantId, conversationId }: ConversationKey, at: Date): Pipelined {
    // By an array, PostgreSQL looks each message up in the order of ids, in which other transactions lock
    // them.
    return tx.pipeline(
      `UPDATE messages SET dismissed_at = $3
       WHERE tenant_id = $1 AND conversation_id = $2 AND ${IS_LOST} AND id = ANY (ARRAY(
         SELECT id FROM messages WHERE tenant_id = $1 AND conversation_id = $2 AND ${IS_LOST}
         ORDER BY id DESC LIMIT ${MAX_DISMISSED}))`,
      [tenantId, conversationId, at],
    );
  }
}
