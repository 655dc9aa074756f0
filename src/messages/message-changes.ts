import { Injectable } from '@nestjs/common';
import { AttachmentsRepository } from '../attachments/attachments.repository';
import { newIdAfter } from '../common/ids';
import { ConversationEntity } from '../conversations/conversation.entity';
import { ConversationsRepository, nextSequence } from '../conversations/conversations.repository';
import { makePreview } from '../conversations/preview';
import { Transaction } from '../database/transaction';
import { EventData } from '../outbox/event-catalog';
import { EventlessChanges } from '../outbox/eventless-changes';
import { OutboxService } from '../outbox/outbox.service';
import { saysOnlyFiles } from './described-files';
import { MessageEraser } from './message-eraser';
import { MessageChangesRepository, MessageEdit, MessageReactions } from './message-changes.repository';
import { MessageKey } from './message-status.repository';

/** Stores edits and reactions of customers, and unsends messages. This moves no conversation in lists. */
@Injectable()
export class MessageChanges {
  constructor(
    private readonly messages: MessageChangesRepository,
    private readonly attachments: AttachmentsRepository,
    private readonly conversations: ConversationsRepository,
    private readonly eraser: MessageEraser,
    private readonly outbox: OutboxService,
    private readonly changes: EventlessChanges,
  ) {}

  /**
   * Replaces the text of a customer's message, and the caption of its first file; its first text stays
   * stored. Ignores edits of erased messages, and edits that are older than the message's last one.
   * @returns whether the text has changed
   */
  async edit(tx: Transaction, key: MessageKey, edit: MessageEdit): Promise<boolean> {
    // Every transaction locks attachments before their conversation.
    const attachment = await this.attachments.lockFirstOf(tx, key);
    const conversation = await this.conversations.lock(tx, key.tenantId, key.conversationId);
    const message = conversation && (await this.messages.lock(tx, key));
    if (!message || message.senderType !== 'CUSTOMER' || message.body === '') return false;
    if (isOlder(edit.number, message.editNumber)) return false;
    const isNew = message.body !== edit.body;
    const { body, caption } = edit;
    const isDescribed =
      attachment !== null && caption !== undefined && saysOnlyFiles(body, caption, [attachment.name]);
    await this.messages.edit(tx, key, edit, isNew ? new Date() : null, isDescribed);
    if (!isNew) return false;
    if (attachment) await this.attachments.setCaption(tx, attachment, caption ?? null);
    const isLast = conversation.lastMessageId === key.messageId;
    const preview = isLast ? makePreview(edit.body) : conversation.lastMessagePreview;
    this.tellPipelined(tx, { ...conversation, lastMessagePreview: preview }, key.messageId, 'EDITED');
    return true;
  }

  /** Reports whether a message's text was erased. Nothing can change such a message. */
  async isErased(tx: Transaction, key: MessageKey): Promise<boolean> {
    return (await this.messages.find(tx, key))?.body === '';
  }

  /**
   * Erases a customer's message with every copy of it, and marks it as unsent.
   * @returns false if the message was marked before
   */
  async unsend(tx: Transaction, key: MessageKey): Promise<boolean> {
    const message = await this.messages.find(tx, key);
    if (!message || message.senderType !== 'CUSTOMER' || message.unsentAt) return false;
    const { body, firstBody, replacedBodies } = message;
    const texts = [body, firstBody, ...(replacedBodies ?? [])].filter((text) => text !== null);
    // The conversation is not locked yet. This call locks it, after it has erased rows of other tables.
    await this.eraser.eraseUnsent(tx, key, texts);
    const conversation = await this.conversations.lock(tx, key.tenantId, key.conversationId);
    if (!conversation || !(await this.messages.markUnsent(tx, key, new Date()))) return false;
    this.conversations.passOverPipelined(tx, conversation, key.messageId);
    this.tellPipelined(tx, conversation, key.messageId, 'UNSENT');
    return true;
  }

  /** Replaces the customer's reactions to any message of the conversation, unless it is erased. */
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
    // The id must be higher than that of the newest message, because the message search indexes events in the
    // order of their ids.
    const id = newIdAfter(lastMessageId);
    const data = { conversationId, messageId, change };
    this.outbox.appendPipelined(tx, tenantId, 'message.updated', data, { id, sequence });
  }
}

function isOlder(number: number | null, last: number | null): boolean {
  return number !== null && last !== null && number < last;
}
