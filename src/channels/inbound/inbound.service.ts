import { Injectable, Logger } from '@nestjs/common';
import { violatesUnique } from '../../database/driver/database-errors';
import { CustomersService } from '../../contacts/customers.service';
import { ConversationWriter } from '../../conversations/conversation-writer';
import { Database } from '../../database/database';
import { Transaction } from '../../database/transaction';
import { MessageWriter } from '../../messages/message-writer';
import { Connection } from '../adapters/channel-adapter';
import { customerIdsOf, InboundChange, InboundIds, InboundMessage } from '../adapters/hook-events';
import { lockingAll } from '../../contacts/more-identities';
import { isUsableId } from '../adapters/provider-values';
import { CustomerChangesService } from '../customers/customer-changes.service';
import { storableContent, storableCustomer } from '../customers/inbound-content';
import { ChannelCustomersService } from '../customers/channel-customers.service';
import { LoadedConnection } from '../connections/connection-loader';
import { ProviderIdsRepository, PROVIDER_MESSAGES_KEY } from '../provider-ids/provider-ids.repository';
import { ReceptionTimes } from './reception-times';

/** Undoes the transaction of a message that its new customer has unsent before it came. */
class NeverSent extends Error {}

/** Stores customers' messages, each once however often it comes, in the sender's conversation. */
@Injectable()
export class InboundService {
  private readonly logger = new Logger(InboundService.name);

  constructor(
    private readonly database: Database,
    private readonly contacts: CustomersService,
    private readonly customers: ChannelCustomersService,
    private readonly conversations: ConversationWriter,
    private readonly messages: MessageWriter,
    private readonly providerIds: ProviderIdsRepository,
    private readonly changes: CustomerChangesService,
    private readonly receptionTimes: ReceptionTimes,
  ) {}

  /**
   * Stores a message in its sender's conversation. Makes the contact and the conversation if they do not
   * exist.
   * @returns false if the message is stored already, or its ids are unusable
   */
  async receive(connection: LoadedConnection, message: InboundMessage): Promise<boolean> {
    if (![...customerIdsOf(message), ...message.providerIds].every(isUsableId)) {
      this.logger.warn({ connectionId: connection.id }, 'a message was ignored: its ids are unusable');
      return false;
    }
    try {
      const isNew = await lockingAll((more) =>
        this.database.transaction((tx) => this.store(tx, connection, message, more)),
      );
      if (isNew) this.receptionTimes.observe(connection);
      return isNew;
    } catch (error) {
      // The second: the same message arrived under another sender.
      if (error instanceof NeverSent || violatesUnique(error, PROVIDER_MESSAGES_KEY)) return false;
      throw error;
    }
  }

  /**
   * Applies what a customer changes after a message was sent. A reaction to a message that is not stored is
   * stored as a message.
   */
  async change(connection: LoadedConnection, change: InboundChange): Promise<void> {
    const outcome = await this.changes.apply(connection, change);
    if (outcome === 'MESSAGE_UNKNOWN' && change.kind === 'reaction' && change.message)
      await this.receive(connection, change.message);
  }

  /** Links ids that name one customer to the contact who has one of them. Repeating it changes nothing. */
  async link(connection: LoadedConnection, event: InboundIds): Promise<void> {
    const { tenantId, channel } = connection;
    const { ids, previousIds, phone, at } = event;
    if (![...ids, ...previousIds].every(isUsableId)) return;
    const named = { channel, ids, previousIds, phone, at };
    await lockingAll((more) =>
      this.database.transaction((tx) => this.customers.link(tx, tenantId, { ...named, more })),
    );
  }

  private async store(
    tx: Transaction,
    connection: Connection,
    message: InboundMessage,
    more: string[],
  ): Promise<boolean> {
    const { id: connectionId, tenantId, channel } = connection;
    const { externalId, otherIds } = message.customer;
    const providerIds = [...new Set(message.providerIds)];
    // Locks the customer's identities, so that a concurrent repetition finds the stored message.
    const { at } = message;
    const customer = { channel, externalId, otherIds, at, more, ...storableCustomer(message.customer) };
    const { contactId, isNew } = await this.customers.identify(tx, tenantId, customer);
    const ids = customerIdsOf(message);
    const { isKnown, early } = await this.providerIds.lookUp(tx, connection, providerIds, { contactId, ids });
    const wasUnsent = early.some(({ body }) => body === null);
    if (wasUnsent && isNew) throw new NeverSent();
    if (isKnown || wasUnsent) return false;
    const { name, email } = message.claimed ?? {};
    if (name || email)
      await this.contacts.updateProfile(tx, tenantId, contactId, { claimed: { name, email } });
    const conversation = await this.conversations.continueOrOpen(tx, {
      tenantId,
      contactId,
      sourceChannel: channel,
      identityExternalId: externalId,
    });
    const stored = await this.messages.receive(tx, conversation, storableContent(message));
    await this.providerIds.insertReceived(tx, connectionId, providerIds, stored);
    await this.changes.applyEarly(tx, stored, early);
    return true;
  }
}
