import { Injectable, Logger } from '@nestjs/common';
import { violatesUnique } from '../../common/database-errors';
import { ContactsService } from '../../contacts/contacts.service';
import { ConversationsService } from '../../conversations/conversations.service';
import { Database } from '../../database/database';
import { Transaction } from '../../database/transaction';
import { MessagesService } from '../../messages/messages.service';
import { Connection, InboundMessage } from '../adapters/channel-adapter';
import { isUsableId } from '../provider-id';
import { contentOf, customerOf } from './inbound-content';
import { ProviderMessagesRepository, PROVIDER_MESSAGES_KEY } from './provider-messages.repository';

/** Takes in what customers write: each message once, in the conversation with whoever wrote it. */
@Injectable()
export class InboundService {
  private readonly logger = new Logger(InboundService.name);

  constructor(
    private readonly database: Database,
    private readonly contacts: ContactsService,
    private readonly conversations: ConversationsService,
    private readonly messages: MessagesService,
    private readonly store: ProviderMessagesRepository,
  ) {}

  /**
   * Stores a message with all that follows from it, or nothing, if it is stored already.
   * @returns whether it has been stored now
   */
  async take(connection: Connection, message: InboundMessage): Promise<boolean> {
    if (![message.customer.externalId, ...message.providerIds].every(isUsableId)) {
      this.logger.warn({ connectionId: connection.id }, 'a message was left out: its ids can be nobody’s');
      return false;
    }
    try {
      return await this.database.transaction((tx) => this.takeIn(tx, connection, message));
    } catch (error) {
      // The same message came again, as if from somebody else; all of this one is undone.
      if (!violatesUnique(error, PROVIDER_MESSAGES_KEY)) throw error;
      return false;
    }
  }

  private async takeIn(tx: Transaction, connection: Connection, message: InboundMessage): Promise<boolean> {
    const { id: connectionId, tenantId, channel } = connection;
    const { externalId } = message.customer;
    const providerIds = [...new Set(message.providerIds)];
    // From here on, one message of this customer at a time: so of two that are the same, the second finds the first.
    const customer = { channel, externalId, ...customerOf(message.customer) };
    const contactId = await this.contacts.identify(tx, tenantId, customer);
    if (await this.store.isKnown(tx, connectionId, providerIds)) return false;
    const conversation = await this.conversations.continueWith(tx, {
      tenantId,
      contactId,
      sourceChannel: channel,
      identityExternalId: externalId,
    });
    const stored = await this.messages.take(tx, conversation, contentOf(message));
    await this.store.insert(tx, connectionId, providerIds, stored);
    return true;
  }
}
