import { Injectable } from '@nestjs/common';
import { IS_LOST } from '../conversations/lost-replies';
import { Pipelined, Transaction } from '../database/transaction';
import { ConversationKey } from '../database/tables/table-declaration';
import { keyParameters, MessageKey } from './message-status.repository';

const MAX_DISMISSED = 1_000;

const BY_KEY = 'tenant_id = $1 AND conversation_id = $2 AND id = $3';

/** Finds and dismisses messages that were not delivered (FAILED), or may not have been (UNKNOWN). */
@Injectable()
export class LostMessagesRepository {
  /** Reports whether a message is FAILED or UNKNOWN and no other message of its conversation repeats it. */
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

  /** Dismisses the newest 1,000 messages of a conversation that are lost replies (`IS_LOST`). */
  dismissAllPipelined(tx: Transaction, { tenantId, conversationId }: ConversationKey, at: Date): Pipelined {
    // An array makes PostgreSQL lock the messages in the order of their ids, as every transaction does.
    return tx.pipeline(
      `UPDATE messages SET dismissed_at = $3
       WHERE tenant_id = $1 AND conversation_id = $2 AND ${IS_LOST} AND id = ANY (ARRAY(
         SELECT id FROM messages WHERE tenant_id = $1 AND conversation_id = $2 AND ${IS_LOST}
         ORDER BY id DESC LIMIT ${MAX_DISMISSED}))`,
      [tenantId, conversationId, at],
    );
  }
}
