import { Injectable, Logger } from '@nestjs/common';
import { ContactsService } from '../../contacts/contacts.service';
import { ConversationsRepository } from '../../conversations/conversations.repository';
import { Database } from '../../database/database';
import { Transaction } from '../../database/transaction';
import { MessageChanges } from '../../messages/message-changes';
import { MessageEntity } from '../../messages/message.entity';
import { MessageKey } from '../../messages/message-status.repository';
import { Connection, InboundChange, InboundReaction } from '../adapters/channel-adapter';
import { isUsableId } from '../adapters/support/provider-values';
import { EarlyChange, ProviderIdsRepository } from '../provider-ids/provider-ids.repository';
import { storableContent, storableReactions } from './inbound-content';

/** Result of a change: made, kept for its message, or about a message of somebody else. */
type ChangeOutcome = 'APPLIED' | 'MESSAGE_UNKNOWN' | 'NOT_THEIRS';

/**
 * Stores what customers change after a message was sent: late, twice, in any order, or before the message. A
 * customer changes messages of their own conversations alone.
 */
@Injectable()
export class CustomerChangesService {
  private readonly logger = new Logger(CustomerChangesService.name);

  constructor(
    private readonly database: Database,
    private readonly contacts: ContactsService,
    private readonly conversations: ConversationsRepository,
    private readonly messages: MessageChanges,
    private readonly providerIds: ProviderIdsRepository,
  ) {}

  /**
   * Applies a change. An edit whose message is unknown is kept until the message comes, for a day at most; a
   * message that was unsent before it comes is not stored.
   * @param change one of an account whose own secret has verified it
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
        'a change was ignored: the message is not theirs',
      );
    return outcome;
  }

  /** Applies a change that came before its message, which was stored in this transaction. */
  async applyEarly(
    tx: Transaction,
    connection: Connection,
    { tenantId, conversationId, id: messageId }: MessageEntity,
    { providerId, body, metadata, number }: EarlyChange,
  ): Promise<void> {
    if (body !== null)
      await this.messages.edit(tx, { tenantId, conversationId, messageId }, { body, metadata, number });
    await this.providerIds.deleteEarlyChange(tx, connection, providerId);
  }

  private async store(
    tx: Transaction,
    connection: Connection,
    change: InboundChange,
  ): Promise<ChangeOutcome> {
    const { tenantId, channel } = connection;
    const { customerIds, providerId } = change;
    // Comes first: the message is stored under the same locks, so it comes before or after.
    const contactIds = await this.contacts.lockIdentities(tx, tenantId, channel, customerIds);
    const key = await this.providerIds.findMessage(tx, connection, providerId);
    if (!key) {
      if (change.kind !== 'reaction') await this.keep(tx, connection, change, contactIds[0] ?? null);
      return 'MESSAGE_UNKNOWN';
    }
    const conversation = await this.conversations.findIn(tx, tenantId, key.conversationId);
    if (!conversation || !contactIds.includes(conversation.contactId)) return 'NOT_THEIRS';
    await this.applyTo(tx, key, change);
    return 'APPLIED';
  }

  private async applyTo(tx: Transaction, key: MessageKey, change: InboundChange): Promise<void> {
    if (change.kind === 'unsend') await this.messages.unsend(tx, key);
    else if (change.kind === 'reaction') await this.messages.react(tx, key, toReactions(change));
    else await this.messages.edit(tx, key, { ...storableContent(change), number: change.number });
  }

  private keep(
    tx: Transaction,
    connection: Connection,
    change: Exclude<InboundChange, InboundReaction>,
    contactId: string | null,
  ): Promise<void> {
    const { providerId } = change;
    const early: EarlyChange =
      change.kind === 'unsend'
        ? { providerId, body: null, metadata: null, number: null }
        : { providerId, ...storableContent(change), number: change.number };
    return this.providerIds.insertEarlyChange(tx, connection, early, contactId);
  }
}

function toReactions({ emojis, number }: InboundReaction) {
  return { emojis: storableReactions(emojis), number };
}
