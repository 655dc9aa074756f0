import { Injectable } from '@nestjs/common';
import { AppError } from '../../common/app-error';
import { ConversationsRepository } from '../../conversations/conversations.repository';
import { Database } from '../../database/database';
import { ConversationKey } from '../../database/tables/table-declaration';
import { Mailer } from '../../mails/mailer';
import { AddressState, AnswerAddress, AnswerAddressesRepository } from './answer-addresses.repository';

@Injectable()
export class AnswerAddressesService {
  constructor(
    private readonly database: Database,
    private readonly conversations: ConversationsRepository,
    private readonly addresses: AnswerAddressesRepository,
    private readonly mailer: Mailer,
  ) {}

  /** Whether answers can be mailed. Otherwise no address is asked for. */
  private get isConfigured(): boolean {
    return this.mailer.isConfigured;
  }

  /** Returns whether a conversation has an address; OFF if the service sends no mails. */
  async getState(key: ConversationKey): Promise<AddressState> {
    return this.isConfigured ? this.addresses.findState(key) : 'OFF';
  }

  /**
   * Stores the address to which a conversation's unread answers are mailed.
   * @throws AppError NOT_FOUND: no mail server, or an unknown conversation
   */
  async set({ tenantId, conversationId }: ConversationKey, address: AnswerAddress): Promise<void> {
    if (!this.isConfigured) throw AppError.notFound('Conversation');
    await this.database.transaction(async (tx) => {
      // The eraser locks the conversation too, so no address is stored behind it.
      const conversation = await this.conversations.lock(tx, tenantId, conversationId);
      if (!conversation?.identityExternalId) throw AppError.notFound('Conversation');
      await this.addresses.set(tx, { tenantId, conversationId }, address);
    });
  }
}
