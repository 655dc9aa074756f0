import { Injectable } from '@nestjs/common';
import { Database } from '../../database/database';
import { ConversationKey } from '../../database/tables/table-declaration';
import { Transaction } from '../../database/transaction';

export const ADDRESS_STATES = ['GIVEN', 'KNOWN', 'NONE', 'OFF'] as const;
export type AddressState = (typeof ADDRESS_STATES)[number];

export interface AnswerAddress {
  /** Address that the visitor has given; null for that of the contact. */
  email: string | null;
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
       ON CONFLICT (tenant_id, conversation_id) DO UPDATE SET email = coalesce(excluded.email, a.email), locale = excluded.locale,
         created_at = excluded.created_at,
         refused_at = CASE WHEN excluded.email IS NULL OR a.email = excluded.email THEN a.refused_at END`,
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
       ON CONFLICT (tenant_id, conversation_id) DO UPDATE SET email = excluded.email, refused_at = excluded.refused_at
       WHERE coalesce(a.email, excluded.email) = excluded.email`,
      [tenantId, conversationId, email, locale, new Date()],
    );
  }

  /**
   * Reports whether a conversation's visitor has given an address, or the contact has a known one. One that a
   * mail server does not know counts as none, so that the widget asks for another.
   */
  async findState({ tenantId, conversationId }: ConversationKey): Promise<AddressState> {
    const [row] = await this.database.query<{ isGiven: boolean; isKnown: boolean; isRefused: boolean }>(
      `SELECT a.conversation_id IS NOT NULL AND coalesce(a.email, p.email) IS NOT NULL AS "isGiven",
         p.email IS NOT NULL AS "isKnown", a.refused_at IS NOT NULL AS "isRefused"
       FROM conversations c
       JOIN contacts p ON p.tenant_id = $1 AND p.id = c.contact_id
       LEFT JOIN answer_addresses a ON a.tenant_id = $1 AND a.conversation_id = c.id
       WHERE c.tenant_id = $1 AND c.id = $2`,
      [tenantId, conversationId],
    );
    if (!row || row.isRefused) return 'NONE';
    if (row.isGiven) return 'GIVEN';
    return row.isKnown ? 'KNOWN' : 'NONE';
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
