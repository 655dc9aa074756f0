import { Injectable } from '@nestjs/common';
import { Channel } from '../../common/channel-descriptors';
import {
  ChannelCustomer,
  CustomersService,
  KnownCustomer,
  NamedCustomer,
} from '../../contacts/customers.service';
import { ConversationsRepository } from '../../conversations/conversations.repository';
import { Transaction } from '../../database/transaction';
import { EventlessChanges } from '../../outbox/eventless-changes';

/** Knows the customers of channels, and keeps their conversations with them. */
@Injectable()
export class ChannelCustomersService {
  constructor(
    private readonly customers: CustomersService,
    private readonly conversations: ConversationsRepository,
    private readonly changes: EventlessChanges,
  ) {}

  /**
   * Finds a customer's contact by all of their ids, or creates one. The ids stay locked until the transaction
   * ends.
   * @returns the contact's id
   */
  async identify(tx: Transaction, tenantId: string, customer: ChannelCustomer): Promise<string> {
    const known = await this.customers.identify(tx, tenantId, customer);
    await this.updateConversations(tx, tenantId, customer.channel, known);
    return known.contactId;
  }

  /**
   * Links ids to the contact who has one of them. Answers go to the first id instead of those that were
   * replaced.
   */
  async link(tx: Transaction, tenantId: string, named: NamedCustomer): Promise<void> {
    const known = await this.customers.link(tx, tenantId, named);
    if (!known) return;
    const { contactId, replaced } = known;
    const { channel: sourceChannel, ids } = named;
    await this.updateConversations(tx, tenantId, sourceChannel, known);
    if (replaced.length === 0) return;
    const partner = { tenantId, contactId, sourceChannel, identityExternalId: ids[0]! };
    await this.conversations.redirect(tx, partner, replaced);
  }

  /** Moves the conversations of merged contacts, and sends no more answers to ids that others have now. */
  private async updateConversations(
    tx: Transaction,
    tenantId: string,
    channel: Channel,
    { contactId, merged, gained, losers }: KnownCustomer,
  ): Promise<void> {
    if (losers.length > 0)
      await this.conversations.forgetIdentities(tx, tenantId, channel, { contactIds: losers, ids: gained });
    if (merged.length === 0) return;
    const moved = await this.conversations.moveToContact(tx, { tenantId, contactId }, merged);
    for (const conversationId of moved) this.changes.note(tx, tenantId, { conversationId });
  }
}
