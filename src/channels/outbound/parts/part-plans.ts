import { Injectable } from '@nestjs/common';
import { AttachmentEntity } from '../../../attachments/attachment.entity';
import { AttachmentsRepository } from '../../../attachments/attachments.repository';
import { newId } from '../../../common/ids';
import { Transaction } from '../../../database/transaction';
import { ClaimedMessage } from '../claimed-message';
import { MessagePart } from './message-part';
import { MessagePartsRepository } from './message-parts.repository';
import { formOf, planParts, statusesOfRepeat } from './part-plan';
import { ProviderFilesRepository } from './provider-files.repository';

/** Next part of a message to be sent, with its file. */
export interface NextPart {
  part: MessagePart;
  /** Attachment of the part; null for the message's text. */
  attachment: AttachmentEntity | null;
  /** Provider's reference of the file, if it lives. */
  known: string | null;
}

/** Plans the parts of messages with files. */
@Injectable()
export class PartPlans {
  constructor(
    private readonly parts: MessagePartsRepository,
    private readonly attachments: AttachmentsRepository,
    private readonly providerFiles: ProviderFilesRepository,
  ) {}

  /**
   * Finds the first part of a message that is to be sent. Plans the parts at the first attempt.
   * @returns null if no part is left, or the message has been erased
   */
  async findNext(tx: Transaction, message: ClaimedMessage): Promise<NextPart | null> {
    const attached = await this.attachments.listOfMessages(message, [message.messageId], tx);
    const files = attached.get(message.messageId) ?? [];
    const planned = await this.parts.list(tx, message);
    const parts = planned.length > 0 ? planned : await this.plan(tx, message, files);
    const part = parts.find(({ status }) => status === 'QUEUED');
    if (!part) return null;
    const attachment = files.find(({ id }) => id === part.attachmentId) ?? null;
    const { connection } = message;
    const form = attachment && formOf(connection.channel, attachment);
    const key = part.fileId && form && { connection, fileId: part.fileId, form };
    return { part, attachment, known: key ? await this.providerFiles.find(tx, key) : null };
  }

  private async plan(
    tx: Transaction,
    message: ClaimedMessage,
    files: AttachmentEntity[],
  ): Promise<MessagePart[]> {
    const { tenantId, conversationId, messageId, connection, body, isDescribed, repeatsId } = message;
    const planned = planParts(connection.channel, isDescribed ? null : body, files);
    const repeated = repeatsId === null ? [] : await this.listRepeated(tx, message, repeatsId);
    const isSameText =
      repeated.length > 0 && (await this.parts.isBodyOf(tx, message, repeatsId!, message.body));
    const statuses = statusesOfRepeat(planned, repeated, isSameText);
    return planned.map((part, position) => {
      const added: MessagePart = {
        ...part,
        ...statuses[position]!,
        tenantId,
        conversationId,
        messageId,
        position,
        id: newId(),
        attemptCount: 0,
        providerId: null,
        createdAt: message.claimedAt,
      };
      this.parts.insertPipelined(tx, added);
      return added;
    });
  }

  private listRepeated(
    tx: Transaction,
    { tenantId, conversationId }: ClaimedMessage,
    repeatsId: string,
  ): Promise<MessagePart[]> {
    return this.parts.list(tx, { tenantId, conversationId, messageId: repeatsId });
  }
}
