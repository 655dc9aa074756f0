import { Injectable } from '@nestjs/common';
import { Database, Transaction } from '../database/database';
import { MessageEntity } from './message.entity';

@Injectable()
export class MessagesRepository {
  constructor(private readonly database: Database) {}

  /** Newest first, from below the cursor. */
  list(
    tenantId: string,
    conversationId: string,
    cursor: string | undefined,
    count: number,
  ): Promise<MessageEntity[]> {
    const query = this.database.manager
      .createQueryBuilder(MessageEntity, 'message')
      .where('message.tenantId = :tenantId AND message.conversationId = :conversationId', {
        tenantId,
        conversationId,
      })
      .orderBy('message.id', 'DESC')
      .limit(count);
    if (cursor) query.andWhere('message.id < :cursor', { cursor });
    return query.getMany();
  }

  async insert(tx: Transaction, message: MessageEntity): Promise<void> {
    await tx.manager.insert(MessageEntity, message);
  }
}
