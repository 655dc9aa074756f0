import { Injectable } from '@nestjs/common';
import { Transaction } from '../../database/transaction';
import { MessageEntity } from '../../messages/message.entity';

export const PROVIDER_MESSAGES_KEY = 'provider_messages_pkey';

/** The providers' ids of stored customers' messages. */
@Injectable()
export class ProviderMessagesRepository {
  async isKnown(tx: Transaction, connectionId: string, providerIds: string[]): Promise<boolean> {
    const rows = await tx.query(
      'SELECT FROM provider_messages WHERE connection_id = $1 AND provider_id = ANY ($2) LIMIT 1',
      [connectionId, providerIds],
    );
    return rows.length > 0;
  }

  async insert(
    tx: Transaction,
    connectionId: string,
    providerIds: string[],
    { tenantId, conversationId, id, createdAt }: MessageEntity,
  ): Promise<void> {
    await tx.query(
      `INSERT INTO provider_messages
         (connection_id, provider_id, tenant_id, conversation_id, message_id, created_at)
       SELECT $1, unnest($2::text[]), $3, $4, $5, $6`,
      [connectionId, providerIds, tenantId, conversationId, id, createdAt],
    );
  }
}
