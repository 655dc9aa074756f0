import { Injectable } from '@nestjs/common';
import { CustomersService } from '../../contacts/customers.service';
import { ConversationWriter } from '../../conversations/conversation-writer';
import { Transaction } from '../../database/transaction';
import { Connection } from '../adapters/channel-adapter';
import { customerIdsOf, InboundMessage } from '../adapters/hook-events';
import { ChannelCustomersService } from '../customers/channel-customers.service';
import { CustomerChangesService } from '../customers/customer-changes.service';
import { storableCustomer } from '../customers/inbound-content';
import { InboundContents } from './inbound-contents';
import { ProviderIdsRepository } from '../provider-ids/provider-ids.repository';

/** Error that rolls back a new customer's message, because it was taken back before it arrived. */
export class NeverSent extends Error {}

/** Writes a message, its customer's contact and conversation, and changes that arrived before it. */
@Injectable()
export class InboundMessageWriter {
  constructor(
    private readonly customers: ChannelCustomersService,
    private readonly contacts: CustomersService,
    private readonly conversations: ConversationWriter,
    private readonly contents: InboundContents,
    private readonly providerIds: ProviderIdsRepository,
    private readonly changes: CustomerChangesService,
  ) {}

  /**
   * Writes a message.
   * @param more further ids of the customer to lock, which `lockingAll` finds
   * @returns false if it is already stored, or its customer took it back before it arrived
   * @throws NeverSent if a new customer took it back before it arrived
   */
  async write(
    tx: Transaction,
    connection: Connection,
    message: InboundMessage,
    more: string[],
  ): Promise<boolean> {
    const { id: connectionId, tenantId, channel } = connection;
    const { externalId, otherIds } = message.customer;
    const providerIds = [...new Set(message.providerIds)];
    // Locks the customer's ids, so that a repetition of the message waits and then finds the stored message.
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
    const stored = await this.contents.add(tx, connection, conversation, message);
    await this.providerIds.insertReceived(tx, connectionId, providerIds, stored);
    await this.changes.applyEarly(tx, stored, early);
    return true;
  }
}
