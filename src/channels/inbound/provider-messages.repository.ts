import { Injectable } from '@nestjs/common';
import { Transaction } from '../../database/transaction';
import { MessageEntity } from '../../messages/message.entity';
import { ErasedIds } from '../../secrets/erased-ids';
import { Connection } from '../adapters/channel-adapter';

export const PROVIDER_MESSAGES_KEY = 'provider_messages_pkey';

/** The providers' ids of stored customers' messages. */
@Injectable()
export class ProviderMessagesRepository {
  constructor(private readonly erasedIds: ErasedIds) {}

  /** Also when the message was erased meanwhile. */
  async isKnown(
    tx: Transaction,
    { tenantId, id }: Pick<Connection, 'tenantId' | 'id'>,
    providerIds: string[],
  ): Promise<boolean> {
    const rows = await tx.query(
      'SELECT FROM provider_messages WHERE tenant_id = $1 AND connection_id = $2 AND provider_id = ANY ($3) LIMIT 1',
      [tenantId, id, this.erasedIds.with(id, providerIds)],
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
         (tenant_id, connection_id, provider_id, conversation_id, message_id, created_at)
       SELECT $3, $1, unnest($2::text[]), $4, $5, $6`,
      [connectionId, providerIds, tenantId, conversationId, id, createdAt],
    );
  }
}
