import { Injectable } from '@nestjs/common';
import { Actor } from '../access/principal';
import { AppError } from '../common/app-error';
import { isId, newId, newIdAfter } from '../common/ids';
import { ConversationEntity } from '../conversations/conversation.entity';
import { ConversationsRepository, nextSequence } from '../conversations/conversations.repository';
import { ConversationWriter } from '../conversations/conversation-writer';
import { makePreview } from '../conversations/preview';
import { Transaction } from '../database/transaction';
import { ConversationKey } from '../database/tables/table-declaration';
import { EventData } from '../outbox/event-catalog';
import { IdempotentRequest } from '../idempotency/idempotent-request';
import { OutboxService } from '../outbox/outbox.service';
import { channelsFor } from './body-limits';
import { LostMessagesRepository } from './lost-messages.repository';
import { toMessage } from './message.dto';
import { MessageEntity } from './message.entity';
import { MessagesRepository } from './messages.repository';
import { UnlockedSendsRepository } from './unlocked-sends.repository';

/** Fields of a new message that the caller of `MessageWriter` chooses. */
export type MessageContent = Pick<
  MessageEntity,
  'senderType' | 'senderAgentId' | 'body' | 'metadata' | 'deliveryStatus'
> &
  Partial<Pick<MessageEntity, 'repeatsId' | 'attachmentCount' | 'isDescribed'>>;

/** Facts of a new message with attachments; left out for any other. */
type Attached = Partial<Pick<MessageEntity, 'attachmentCount' | 'isDescribed'>>;

/** Values of a message that its customer has not edited, withdrawn or reacted to. */
const UNCHANGED = {
  firstBody: null,
  replacedBodies: null,
  editedAt: null,
  editNumber: null,
  unsentAt: null,
  reactions: null,
  reactionNumber: null,
};

/** Values of a new message for the customer. */
const SENT = { senderType: 'AGENT', metadata: null, deliveryStatus: 'QUEUED' } as const;

/**
 * Adds messages to conversations. The caller's transaction must have locked the conversation, except for
 * `sendUnlocked`.
 */
@Injectable()
export class MessageWriter {
  constructor(
    private readonly messages: MessagesRepository,
    private readonly conversations: ConversationsRepository,
    private readonly conversationWriter: ConversationWriter,
    private readonly lost: LostMessagesRepository,
    private readonly outbox: OutboxService,
    private readonly unlockedSends: UnlockedSendsRepository,
  ) {}

  /** Adds a customer's message to a locked conversation, which it reopens. Does not validate the text. */
  async receive(
    tx: Transaction,
    conversation: ConversationEntity,
    received: Pick<MessageEntity, 'body' | 'metadata'> & Attached,
  ): Promise<MessageEntity> {
    const content: MessageContent = {
      senderType: 'CUSTOMER',
      senderAgentId: null,
      deliveryStatus: null,
      ...received,
    };
    const message = this.addPipelined(tx, conversation, content);
    await this.conversationWriter.reopen(tx, conversation);
    return message;
  }

  /**
   * Adds a message for the customer to a locked conversation. If an agent sends it and the conversation has
   * no agent, the conversation is assigned to the sender.
   * @returns the message, and the id of the event of that assignment, if any
   */
  async send(
    tx: Transaction,
    conversation: ConversationEntity,
    content: Pick<MessageEntity, 'senderAgentId' | 'body' | 'repeatsId'> & Attached,
    actor: Actor,
  ): Promise<{ message: MessageEntity; assignmentEventId?: string }> {
    if (content.repeatsId !== null) await this.dismissRepeated(tx, conversation, content.repeatsId);
    const message = this.addPipelined(tx, conversation, { ...SENT, ...content });
    if (actor.type !== 'agent') return { message };
    const eventId = await this.conversationWriter.noteReply(tx, conversation, actor, content.body);
    return { message, assignmentEventId: eventId };
  }

  /**
   * Adds a message for the customer to a conversation that is not locked, in 1 round trip instead of 3. Does
   * not check a permission, and notes no agent's reply.
   * @returns the message; null if nothing was written. Then a transaction must decide: the conversation or
   *   the sender may be unknown, the body too long, the request's key in use, or a new id too low.
   */
  async sendUnlocked(
    key: ConversationKey,
    body: string,
    senderAgentId: string | undefined,
    request: IdempotentRequest | null,
  ): Promise<MessageEntity | null> {
    if (!isId(key.conversationId) || !(senderAgentId === undefined || isId(senderAgentId))) return null;
    if (!this.unlockedSends.isPossible) return null;
    let message: MessageEntity;
    const make = () => {
      // The statement replaces this sender's id.
      message = newMessage(key, newId(), { ...SENT, senderAgentId: newId(), body });
      const data = JSON.stringify(createdDataOf(message));
      const response = request ? JSON.stringify({ message: toMessage(message) }) : '';
      return { message, preview: makePreview(body), data, channels: channelsFor(body), response };
    };
    const sent = await this.unlockedSends.insert(senderAgentId, request, make);
    if (!sent) return null;
    this.outbox.signal({ tenantId: key.tenantId, id: sent.id, conversationId: key.conversationId });
    return { ...message!, ...sent };
  }

  /**
   * Dismisses a lost message that the new message repeats.
   * @throws AppError INVALID_BODY if the message is neither FAILED nor UNKNOWN, or another message repeats it
   */
  private async dismissRepeated(
    tx: Transaction,
    { tenantId, id: conversationId }: ConversationEntity,
    messageId: string,
  ): Promise<void> {
    const key = { tenantId, conversationId, messageId };
    if (!isId(messageId) || !(await this.lost.mayBeRepeated(tx, key)))
      throw AppError.invalidBody('repeatsId', 'not_lost');
    this.lost.dismissPipelined(tx, key, new Date());
  }

  /** Adds a message with its event to a locked conversation. An error is thrown only at the commit. */
  addPipelined(tx: Transaction, conversation: ConversationEntity, content: MessageContent): MessageEntity {
    const { tenantId, id: conversationId, lastMessageId } = conversation;
    const message = newMessage({ tenantId, conversationId }, newIdAfter(lastMessageId), content);
    const { id, body, createdAt } = message;
    this.messages.insertPipelined(tx, message);
    const sequence = nextSequence(conversation);
    const isFromCustomer = content.senderType === 'CUSTOMER';
    const last = { id, preview: makePreview(body), at: createdAt, isFromCustomer };
    this.conversations.setLastMessagePipelined(tx, conversation, last, sequence);
    // The event has the message's id, so that an erasure of the message finds the event by its key.
    this.outbox.appendPipelined(tx, tenantId, 'message.created', createdDataOf(message), { id, sequence });
    return message;
  }
}

function newMessage(
  { tenantId, conversationId }: ConversationKey,
  id: string,
  content: MessageContent,
): MessageEntity {
  return {
    tenantId,
    conversationId,
    id,
    createdAt: new Date(),
    deliveryError: null,
    repeatsId: null,
    dismissedAt: null,
    attachmentCount: 0,
    isDescribed: false,
    ...UNCHANGED,
    ...content,
  };
}

/** Returns the data of the event that reports a new message. */
function createdDataOf({ conversationId, ...message }: MessageEntity): EventData<'message.created'> {
  const { id, body, senderType, createdAt } = message;
  return { conversationId, message: { id, body, senderType, createdAt: createdAt.toISOString() } };
}
