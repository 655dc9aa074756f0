import { Injectable } from '@nestjs/common';
import { Database } from '../database/database';
import { Pipelined, Transaction } from '../database/transaction';
import { PageStatement } from '../database/page-statement';
import { MessageEntity } from './message.entity';

export type ListedMessage = Pick<
  MessageEntity,
  'id' | 'senderType' | 'senderAgentId' | 'body' | 'createdAt' | 'deliveryStatus' | 'deliveryError'
>;

const LISTED = `id, sender_type AS "senderType", sender_agent_id AS "senderAgentId", body, created_at AS "createdAt",
  delivery_status AS "deliveryStatus", delivery_error AS "deliveryError"`;

@Injectable()
export class MessagesRepository {
  constructor(private readonly database: Database) {}

  /** Newest first, below the cursor. */
  list(
    tenantId: string,
    conversationId: string,
    cursor: string | undefined,
    count: number,
  ): Promise<ListedMessage[]> {
    return new PageStatement(LISTED, 'messages')
      .where('tenant_id = ?', tenantId)
      .where('conversation_id = ?', conversationId)
      .read(this.database, cursor, count);
  }

  insertPipelined(tx: Transaction, message: MessageEntity): Pipelined {
    const { deliveryError, metadata } = message;
    return tx.pipeline(
      `INSERT INTO messages (tenant_id, conversation_id, id, sender_type, sender_agent_id, body, delivery_status,
                             delivery_error, metadata, created_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
      [
        message.tenantId,
        message.conversationId,
        message.id,
        message.senderType,
        message.senderAgentId,
        message.body,
        message.deliveryStatus,
        deliveryError && JSON.stringify(deliveryError),
        metadata && JSON.stringify(metadata),
        message.createdAt,
      ],
    );
  }
}
