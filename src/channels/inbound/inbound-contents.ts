import { Injectable } from '@nestjs/common';
import { AttachmentWriter } from '../../attachments/attachment-writer';
import { ConversationEntity } from '../../conversations/conversation.entity';
import { Transaction } from '../../database/transaction';
import { describeFiles } from '../../messages/described-files';
import { MessageWriter } from '../../messages/message-writer';
import { MessageEntity } from '../../messages/message.entity';
import { Connection } from '../adapters/channel-adapter';
import { CustomerUploads, InboundMessage } from '../adapters/hook-events';
import { storableContent } from '../customers/inbound-content';
import { ReceivedAttachments } from '../fetches/received-attachments';

/** Adds customers' messages to their conversations, with their files: uploads, or files to fetch. */
@Injectable()
export class InboundContents {
  constructor(
    private readonly messages: MessageWriter,
    private readonly uploaded: AttachmentWriter,
    private readonly received: ReceivedAttachments,
  ) {}

  /**
   * Adds a message to a locked conversation.
   * @throws AppError INVALID_BODY with the first upload that the message cannot take
   */
  async add(
    tx: Transaction,
    connection: Connection,
    conversation: ConversationEntity,
    message: InboundMessage,
  ): Promise<MessageEntity> {
    if (message.uploads) return this.addUploads(tx, conversation, message, message.uploads);
    const content = { ...storableContent(message), ...this.received.columnsOf(message) };
    const stored = await this.messages.receive(tx, conversation, content);
    if (message.files) this.received.add(tx, connection, stored, message);
    return stored;
  }

  private async addUploads(
    tx: Transaction,
    conversation: ConversationEntity,
    message: InboundMessage,
    { attachments, uploader }: CustomerUploads,
  ): Promise<MessageEntity> {
    const key = { tenantId: conversation.tenantId, conversationId: conversation.id };
    const files = await this.uploaded.lockUploads(tx, key, attachments, conversation.sourceChannel, uploader);
    const isDescribed = message.body === '';
    const body = isDescribed ? describeFiles(files) : message.body;
    const content = { ...storableContent({ ...message, body }), attachmentCount: files.length, isDescribed };
    const stored = await this.messages.receive(tx, conversation, content);
    await this.uploaded.attachUploads(tx, stored, files, attachments);
    return stored;
  }
}
