import { Injectable } from '@nestjs/common';
import { requirePermission } from '../../access/require-permission';
import { AppError } from '../../common/app-error';
import { describeChannel } from '../../common/channel-descriptors';
import { Actor } from '../../access/principal';
import { validate } from '../../common/validate';
import { ContactIdentitiesRepository } from '../../contacts/contact-identities.repository';
import { ContactsRepository } from '../../contacts/contacts.repository';
import {
  ConversationResponse,
  CreateConversation,
  toConversation,
} from '../../conversations/conversation.dto';
import { ConversationPartner } from '../../conversations/conversations.repository';
import { ConversationWriter } from '../../conversations/conversation-writer';
import { Database } from '../../database/database';
import { Transaction } from '../../database/transaction';
import { IdempotencyService } from '../../idempotency/idempotency.service';
import { IdempotentRequest } from '../../idempotency/idempotent-request';
import { ChannelConnectionsRepository } from '../connections/channel-connections.repository';

/** Opens conversations in which the workspace writes first. */
@Injectable()
export class NewConversationsService {
  constructor(
    private readonly database: Database,
    private readonly connections: ChannelConnectionsRepository,
    private readonly contacts: ContactsRepository,
    private readonly identities: ContactIdentitiesRepository,
    private readonly conversations: ConversationWriter,
    private readonly idempotency: IdempotencyService,
  ) {}

  /**
   * Opens a conversation with a contact. The workspace must be connected to the channel, and the contact must
   * have an id on it. The customer's next message belongs to this conversation, even if an older conversation
   * is open.
   * @throws AppError INVALID_BODY: the channel is not connected, or the contact is erased or has no id on it;
   *   FORBIDDEN; NOT_FOUND (contact); IDEMPOTENCY_CONFLICT
   */
  create(
    tenantId: string,
    input: CreateConversation,
    actor: Actor,
    request: IdempotentRequest | null = null,
  ): Promise<ConversationResponse> {
    const given = validate(CreateConversation, input);
    return this.database.transaction(async (tx) => {
      await requirePermission(tx, tenantId, actor, 'conversation.create');
      return this.idempotency.once(tx, { tenantId, conversationId: null }, request, async () => {
        const partner = await this.lockPartner(tx, tenantId, given);
        return toConversation(await this.conversations.openAs(tx, partner, actor));
      });
    });
  }

  /** Locks the customer's id, so that a concurrent erasure either is over or waits for the conversation. */
  private async lockPartner(
    tx: Transaction,
    tenantId: string,
    { contactId: given, channel }: CreateConversation,
  ): Promise<ConversationPartner> {
    const { label } = describeChannel(channel);
    const contact = await this.contacts.find(tenantId, given, tx);
    if (!contact) throw AppError.notFound('Contact');
    const { id: contactId } = contact;
    if (!(await this.connections.findByChannel(tx, tenantId, channel)))
      throw AppError.invalidBody('channel', 'channel_not_connected', { channel: label });
    // An erasure deletes a contact's ids in several transactions, so some ids may be left.
    const latest = contact.erasedAt
      ? null
      : await this.contacts.findLatestIdentity(tx, { tenantId, contactId }, channel);
    const [identity] =
      latest === null ? [] : await this.identities.lockAndFind(tx, tenantId, channel, [latest]);
    if (!identity || identity.contactId !== contactId)
      throw AppError.invalidBody('contactId', 'contact_not_on_channel', { channel: label });
    return { tenantId, contactId, sourceChannel: channel, identityExternalId: identity.externalId };
  }
}
