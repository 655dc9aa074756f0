import { Injectable } from '@nestjs/common';
import { Database } from '../database/database';
import { ConversationKey } from '../database/tables/table-declaration';
import { Transaction } from '../database/transaction';

export interface AnswerAddress {
  email: string;
  locale: string;
}

/** Writes the table `answer_addresses`: where visitors want answers that they do not read in the widget. */
@Injectable()
export class AnswerAddressesRepository {
  constructor(private readonly database: Database) {}

  /** Stores an address in place of an earlier one. */
  async set(
    tx: Transaction,
    { tenantId, conversationId }: ConversationKey,
    { email, locale }: AnswerAddress,
  ): Promise<void> {
    await tx.query(
      `INSERT INTO answer_addresses AS a (tenant_id, conversation_id, email, locale, created_at)
       VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT (tenant_id, conversation_id) DO UPDATE SET email = excluded.email, locale = excluded.locale,
         created_at = excluded.created_at,
         refused_at = CASE WHEN a.email = excluded.email THEN a.refused_at END`,
      [tenantId, conversationId, email, locale, new Date()],
    );
  }

  /** Ends the mails to an address that a mail server does not know. Another address begins them again. */
  async setRefused(
    tx: Transaction,
    { tenantId, conversationId }: ConversationKey,
    { email, locale }: AnswerAddress,
  ): Promise<void> {
    await tx.query(
      `INSERT INTO answer_addresses AS a (tenant_id, conversation_id, email, locale, refused_at, created_at)
       VALUES ($1, $2, $3, $4, $5, $5)
       ON CONFLICT (tenant_id, conversation_id) DO UPDATE SET refused_at = excluded.refused_at
       WHERE a.email = excluded.email`,
      [tenantId, conversationId, email, locale, new Date()],
    );
  }

  async find({ tenantId, conversationId }: ConversationKey): Promise<AnswerAddress | null> {
    const [row] = await this.database.query<AnswerAddress>(
      'SELECT email, locale FROM answer_addresses WHERE tenant_id = $1 AND conversation_id = $2',
      [tenantId, conversationId],
    );
    return row ?? null;
  }

  async delete(tx: Transaction, { tenantId, conversationId }: ConversationKey): Promise<void> {
    await tx.query('DELETE FROM answer_addresses WHERE tenant_id = $1 AND conversation_id = $2', [
      tenantId,
      conversationId,
    ]);
  }
}
