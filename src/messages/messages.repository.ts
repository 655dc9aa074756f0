import { Injectable } from '@nestjs/common';
import { Database, Transaction } from '../database/database';
import { PageStatement } from '../database/page-statement';
import { MessageEntity } from './message.entity';

/** What a list shows of a message. */
export type ListedMessage = Pick<
  MessageEntity,
  'id' | 'senderType' | 'senderAgentId' | 'body' | 'createdAt' | 'deliveryStatus' | 'deliveryError'
>;

const LISTED = `id, sender_type AS "senderType", sender_agent_id AS "senderAgentId", body, created_at AS "createdAt",
  delivery_status AS "deliveryStatus", delivery_error AS "deliveryError"`;

@Injectable()
export class MessagesRepository {
  constructor(private readonly database: Database) {}

  /** Newest first, from below the cursor. */
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

  async insert(tx: Transaction, message: MessageEntity): Promise<void> {
    await tx.manager.insert(MessageEntity, message);
  }
}
