import { Injectable, Logger } from '@nestjs/common';
import { Channel } from '../../common/channel-descriptors';
import { ContactIdentitiesRepository } from '../../contacts/contact-identities.repository';
import { ConversationsRepository } from '../../conversations/conversations.repository';
import { Database } from '../../database/database';
import { Transaction } from '../../database/transaction';
import { MessageChanges } from '../../messages/message-changes';
import { MessageEntity } from '../../messages/message.entity';
import { MessageKey } from '../../messages/message-status.repository';
import { Connection } from '../adapters/channel-adapter';
import { InboundChange, InboundReaction, mostLastingId } from '../adapters/hook-events';
import { isUsableId } from '../adapters/provider-values';
import { EarlyChange, EarlyChangesRepository } from '../provider-ids/early-changes.repository';
import { ProviderIdsRepository } from '../provider-ids/provider-ids.repository';
import { storableCaption, storableContent, storableReactions } from './inbound-content';

/** Result of a customer's change. If it is not APPLIED, an edit or unsend may be applied later. */
type ChangeOutcome = 'APPLIED' | 'MESSAGE_UNKNOWN' | 'NOT_THEIRS';

interface IdentifiedCustomer {
  contactId: string;
  ids: string[];
  merged: string[];
}

/**
 * Applies customers' edits, unsends and reactions, which can be late, repeated, out of order, or earlier than
 * the message. Customers can change only messages of their own conversations. Stores an edit or an unsend
 * until the message is known and the customer's id belongs to its contact.
 */
@Injectable()
export class CustomerChangesService {
  private readonly logger = new Logger(CustomerChangesService.name);

  constructor(
    private readonly database: Database,
    private readonly identities: ContactIdentitiesRepository,
    private readonly conversations: ConversationsRepository,
    private readonly messages: MessageChanges,
    private readonly providerIds: ProviderIdsRepository,
    private readonly early: EarlyChangesRepository,
  ) {}

  /**
   * Applies a change, or stores it for later. A message taken back before it arrives is not stored.
   * @param change must be verified with the secret of its own account
   */
  async apply(connection: Connection, change: InboundChange): Promise<ChangeOutcome> {
    const { id: connectionId } = connection;
    if (![change.providerId, ...change.customerIds].every(isUsableId)) {
      this.logger.warn({ connectionId, kind: change.kind }, 'a change was ignored: its ids are unusable');
      return 'NOT_THEIRS';
    }
    const outcome = await this.database.transaction((tx) => this.store(tx, connection, change));
    if (outcome === 'NOT_THEIRS')
      this.logger.warn(
        { connectionId, kind: change.kind },
        'a change was not made: the message is not known to be theirs',
      );
    return outcome;
  }

  /** Applies changes that arrived before their message, which was stored in this transaction. */
  async applyEarly(
    tx: Transaction,
    { tenantId, conversationId, id: messageId }: MessageEntity,
    early: EarlyChange[],
  ): Promise<void> {
    for (const change of early) await this.applyWaiting(tx, { tenantId, conversationId, messageId }, change);
  }

  /** Applies changes that waited until their customer's id belonged to this contact. */
  async applyToKnown(
    tx: Transaction,
    tenantId: string,
    channel: Channel,
    { contactId, ids, merged }: IdentifiedCustomer,
  ): Promise<void> {
    const customer = { contactId, ids };
    for (const change of await this.early.findWaiting(tx, tenantId, channel, customer, merged)) {
      const { connectionId, providerId } = change;
      const key = await this.providerIds.findMessage(tx, { tenantId, id: connectionId }, providerId);
      const conversation = key && (await this.conversations.find(tenantId, key.conversationId, tx));
      if (conversation?.contactId === contactId) await this.applyWaiting(tx, key!, change);
    }
  }

  private async store(
    tx: Transaction,
    connection: Connection,
    change: InboundChange,
  ): Promise<ChangeOutcome> {
    const { tenantId, channel } = connection;
    const { customerIds, providerId } = change;
    // Locks the customer's ids, because the transaction that stores a message locks them too. It has either
    // ended, so that the message is found below, or it waits and then finds the change that is stored here.
    const ids = [...new Set(customerIds)];
    const owners = await this.identities.lockAndFind(tx, tenantId, channel, ids);
    const key = await this.providerIds.findMessage(tx, connection, providerId);
    const conversation = key && (await this.conversations.find(tenantId, key.conversationId, tx));
    if (!key || !conversation || !owners.some((owner) => owner.contactId === conversation.contactId)) {
      const contactId = owners[0]?.contactId ?? conversation?.contactId ?? null;
      const isOver = key !== null && (await this.messages.isErased(tx, key));
      if (change.kind !== 'reaction' && !isOver) await this.keep(tx, connection, change, contactId);
      return key ? 'NOT_THEIRS' : 'MESSAGE_UNKNOWN';
    }
    if (change.kind === 'reaction') await this.messages.react(tx, key, toReactions(change));
    else if (change.kind === 'edit') {
      const { number, caption } = change;
      const known = caption !== undefined && { caption: storableCaption(caption) };
      await this.messages.edit(tx, key, { ...storableContent(change), ...known, number });
    } else {
      await this.messages.unsend(tx, key);
      await this.early.delete(tx, tenantId, { connectionId: connection.id, providerId });
    }
    return 'APPLIED';
  }

  private async applyWaiting(tx: Transaction, key: MessageKey, change: EarlyChange): Promise<void> {
    const { body, metadata, number } = change;
    if (body === null) await this.messages.unsend(tx, key);
    else await this.messages.edit(tx, key, { body, metadata, number });
    await this.early.delete(tx, key.tenantId, change);
  }

  private keep(
    tx: Transaction,
    { tenantId, id: connectionId }: Connection,
    change: Exclude<InboundChange, InboundReaction>,
    contactId: string | null,
  ): Promise<void> {
    const { providerId, customerIds } = change;
    const content =
      change.kind === 'unsend'
        ? { body: null, metadata: null, number: null }
        : { ...storableContent(change), number: change.number };
    const early = { connectionId, providerId, customerId: mostLastingId(customerIds), ...content };
    return this.early.insert(tx, tenantId, early, contactId);
  }
}

function toReactions({ emojis, number }: InboundReaction) {
  return { emojis: storableReactions(emojis), number };
}
