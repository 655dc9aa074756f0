import { Injectable } from '@nestjs/common';
import { newIdAfter } from '../common/ids';
import { ConversationEntity } from '../conversations/conversation.entity';
import { ConversationsRepository, nextSequence } from '../conversations/conversations.repository';
import { makePreview } from '../conversations/preview';
import { Transaction } from '../database/transaction';
import { EventData } from '../outbox/event-catalog';
import { EventlessChanges } from '../outbox/eventless-changes';
import { OutboxService } from '../outbox/outbox.service';
import { MessageEraser } from './message-eraser';
import { MessageChangesRepository, MessageEdit, MessageReactions } from './message-changes.repository';
import { MessageKey } from './message-status.repository';

/**
 * Stores the changes that customers make to sent messages. They change neither the conversation's status nor
 * its place in lists.
 */
@Injectable()
export class MessageChanges {
  constructor(
    private readonly messages: MessageChangesRepository,
    private readonly conversations: ConversationsRepository,
    private readonly eraser: MessageEraser,
    private readonly outbox: OutboxService,
    private readonly changes: EventlessChanges,
  ) {}

  /**
   * Replaces the text of a customer's message, whose first text is kept. An edit that is older than the last
   * one, and an edit of an erased message, change nothing.
   * @returns whether the text is a new one
   */
  async edit(tx: Transaction, key: MessageKey, edit: MessageEdit): Promise<boolean> {
    const conversation = await this.conversations.lock(tx, key.tenantId, key.conversationId);
    const message = conversation && (await this.messages.lock(tx, key));
    if (!message || message.senderType !== 'CUSTOMER' || message.body === '') return false;
    if (isOlder(edit.number, message.editNumber)) return false;
    const isNew = message.body !== edit.body;
    await this.messages.edit(tx, key, edit, isNew ? new Date() : null);
    if (!isNew) return false;
    const isLast = conversation.lastMessageId === key.messageId;
    const preview = isLast ? makePreview(edit.body) : conversation.lastMessagePreview;
    this.tellPipelined(tx, { ...conversation, lastMessagePreview: preview }, key.messageId, 'EDITED');
    return true;
  }

  /** Reports whether a message has lost its text, so that nothing can change it any more. */
  async isErased(tx: Transaction, key: MessageKey): Promise<boolean> {
    return (await this.messages.find(tx, key))?.body === '';
  }

  /**
   * Erases a customer's message and every copy of it, and marks it as unsent.
   * @returns whether it was not marked before
   */
  async unsend(tx: Transaction, key: MessageKey): Promise<boolean> {
    const message = await this.messages.find(tx, key);
    if (!message || message.senderType !== 'CUSTOMER' || message.unsentAt) return false;
    const { body, firstBody, replacedBodies } = message;
    const texts = [body, firstBody, ...(replacedBodies ?? [])].filter((text) => text !== null);
    // Locks the conversation.
    await this.eraser.eraseUnsent(tx, key, texts);
    const conversation = await this.conversations.lock(tx, key.tenantId, key.conversationId);
    if (!conversation || !(await this.messages.markUnsent(tx, key, new Date()))) return false;
    this.tellPipelined(tx, conversation, key.messageId, 'UNSENT');
    return true;
  }

  /** Replaces a customer's reactions to a message of either side. An erased message gets none. */
  async react(tx: Transaction, key: MessageKey, reactions: MessageReactions): Promise<void> {
    const conversation = await this.conversations.lock(tx, key.tenantId, key.conversationId);
    const message = conversation && (await this.messages.lock(tx, key));
    if (!message || message.body === '' || isOlder(reactions.number, message.reactionNumber)) return;
    await this.messages.setReactions(tx, key, reactions);
    this.changes.note(tx, key.tenantId, { conversationId: key.conversationId });
  }

  private tellPipelined(
    tx: Transaction,
    conversation: ConversationEntity,
    messageId: string,
    change: EventData<'message.updated'>['change'],
  ): void {
    const { tenantId, id: conversationId, lastMessageId } = conversation;
    const sequence = nextSequence(conversation);
    this.conversations.setPreviewPipelined(tx, conversation, new Date(), sequence);
    // The new id is the highest, because the index of messages' words reads events in the order of their ids.
    const id = newIdAfter(lastMessageId);
    const data = { conversationId, messageId, change };
    this.outbox.appendPipelined(tx, tenantId, 'message.updated', data, { id, sequence });
  }
}

function isOlder(number: number | null, last: number | null): boolean {
  return number !== null && last !== null && number < last;
}
