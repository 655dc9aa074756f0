import { Injectable } from '@nestjs/common';
import { Channel } from '../../common/channel-descriptors';
import {
  ChannelCustomer,
  CustomersService,
  KnownCustomer,
  NamedCustomer,
} from '../../contacts/customers.service';
import { ContactConversationsRepository } from '../../conversations/contact-conversations.repository';
import { Transaction } from '../../database/transaction';
import { EventlessChanges } from '../../outbox/eventless-changes';
import { ContactKey } from '../../database/tables/table-declaration';
import { CustomerChangesService } from './customer-changes.service';

/**
 * Finds or creates the contacts of channels' customers. When their ids change, updates their conversations.
 */
@Injectable()
export class ChannelCustomersService {
  constructor(
    private readonly customers: CustomersService,
    private readonly conversations: ContactConversationsRepository,
    private readonly customerChanges: CustomerChangesService,
    private readonly changes: EventlessChanges,
  ) {}

  /**
   * Finds the contact with any of a customer's ids, or creates one. Locks the ids until the transaction ends.
   */
  async identify(
    tx: Transaction,
    tenantId: string,
    customer: ChannelCustomer,
  ): Promise<Pick<KnownCustomer, 'contactId' | 'isNew'>> {
    const known = await this.customers.identify(tx, tenantId, customer);
    const { channel, externalId, otherIds = [] } = customer;
    await this.follow(tx, tenantId, channel, [externalId, ...otherIds], known);
    return known;
  }

  /**
   * Links all these ids to the contact who has one of them. Does nothing if no contact has one. Replies to
   * former ids go to the first of `ids` from now on.
   */
  async link(tx: Transaction, tenantId: string, named: NamedCustomer): Promise<void> {
    const known = await this.customers.link(tx, tenantId, named);
    if (!known) return;
    const { contactId, replaced } = known;
    const { channel: sourceChannel, ids } = named;
    await this.follow(tx, tenantId, sourceChannel, ids, known);
    if (replaced.length === 0) return;
    const subject = { tenantId, contactIds: [contactId], channel: sourceChannel };
    await this.conversations.redirectAnswers(tx, subject, replaced, ids[0]!);
  }

  /**
   * Applies the consequences of new ids. Moves the conversations of merged contacts to `contactId`. Stops
   * replies of other contacts to ids that they have lost. Applies changes of messages that waited until one
   * of the ids belonged to a contact.
   */
  private async follow(
    tx: Transaction,
    tenantId: string,
    channel: Channel,
    ids: string[],
    { contactId, merged, gained, losers }: KnownCustomer,
  ): Promise<void> {
    if (merged.length === 0 && gained.length === 0) return;
    if (losers.length > 0)
      await this.conversations.redirectAnswers(tx, { tenantId, contactIds: losers, channel }, gained, null);
    await this.moveConversations(tx, { tenantId, contactId }, merged);
    await this.customerChanges.applyToKnown(tx, tenantId, channel, { contactId, ids, merged });
  }

  private async moveConversations(tx: Transaction, contact: ContactKey, merged: string[]): Promise<void> {
    if (merged.length === 0) return;
    const { tenantId } = contact;
    const moved = await this.conversations.moveToContact(tx, contact, merged);
    for (const conversationId of moved) this.changes.note(tx, tenantId, { conversationId });
  }
}
