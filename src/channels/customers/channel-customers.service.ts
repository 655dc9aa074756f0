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

/** Finds or creates contacts by their ids at a channel. Moves their conversations if contacts are merged. */
@Injectable()
export class ChannelCustomersService {
  constructor(
    private readonly customers: CustomersService,
    private readonly conversations: ContactConversationsRepository,
    private readonly customerChanges: CustomerChangesService,
    private readonly changes: EventlessChanges,
  ) {}

  /** Finds the contact with any of a customer's ids, or creates one. Locks the ids in the transaction. */
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
   * Links a customer's ids to the contact who has one of them, if there is one. If this replaces ids of the
   * contact, replies to the replaced ids are sent to the first given id instead.
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
   * Moves the conversations of contacts merged into this one. Replies to contacts that lost ids to this one
   * are no longer sent to these ids. Applies edits and unsends that waited for these ids.
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
