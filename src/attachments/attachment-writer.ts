import { Injectable } from '@nestjs/common';
import { AppError } from '../common/app-error';
import { Channel, describeChannel } from '../common/channel-descriptors';
import { isId, newId } from '../common/ids';
import { ConversationKey } from '../database/tables/table-declaration';
import { Transaction } from '../database/transaction';
import { AttachUpload } from './attachment.dto';
import { AttachmentEntity, AttachmentProblem } from './attachment.entity';
import { AttachmentsRepository, NewAttachment } from './attachments.repository';
import { FileKind, formOnChannel } from '../common/file-limits';
import { FileEntity } from './files/file.entity';
import { FilesRepository } from './files/files.repository';

/** Message that gets attachments in the transaction that adds it. */
export interface AttachedMessage extends ConversationKey {
  id: string;
  createdAt: Date;
}

/** Attachment that the service has to fetch from a provider, with the facts that the sender claims. */
export interface ReceivedAttachment {
  kind: FileKind;
  name: string | null;
  contentType: string | null;
  size: number | null;
  caption: string | null;
  state: 'PENDING' | 'LINK_ONLY' | 'FAILED';
  problem: AttachmentProblem | null;
}

/** Adds attachments to new messages. */
@Injectable()
export class AttachmentWriter {
  constructor(
    private readonly attachments: AttachmentsRepository,
    private readonly files: FilesRepository,
  ) {}

  /**
   * Locks the uploads that a new message takes.
   * @param channel channel of the conversation, which must take each of the files
   * @param uploader id of the agent, key or contact who made the uploads
   * @returns the files, in the order of the uploads
   * @throws AppError INVALID_BODY with the first upload that cannot be used
   */
  async lockUploads(
    tx: Transaction,
    { tenantId, conversationId }: ConversationKey,
    uploads: AttachUpload[],
    channel: Channel,
    uploader: string,
  ): Promise<FileEntity[]> {
    const ids = uploads.map(({ uploadId }) => uploadId);
    const locked = await this.files.lock(tx, tenantId, ids.filter(isId));
    return ids.map((id, n) => {
      const field = `attachments[${n}].uploadId`;
      const file = locked.find((one) => one.id === id);
      // A visitor's first uploads are made before there is a conversation.
      const isElsewhere = file?.conversationId !== null && file?.conversationId !== conversationId;
      if (!file || file.uploader !== uploader || isElsewhere)
        throw AppError.invalidBody(field, 'upload_unknown');
      if (file.isDue) throw AppError.invalidBody(field, 'upload_expired');
      if (file.deleteAt === null || ids.indexOf(id) !== n) throw AppError.invalidBody(field, 'upload_in_use');
      if (file.storedAt === null) throw AppError.invalidBody(field, 'upload_not_ready');
      requireForm(channel, file, field);
      return file;
    });
  }

  /** Attaches locked uploads to a message. Adds the rows after the message's own, in the same packet. */
  async attachUploads(
    tx: Transaction,
    message: AttachedMessage,
    files: FileEntity[],
    uploads: AttachUpload[],
  ): Promise<AttachmentEntity[]> {
    const { tenantId } = message;
    await this.files.keep(
      tx,
      tenantId,
      files.map(({ id }) => id),
    );
    return files.map((file, position) => {
      const { name, kind, contentType, size, sha256, width, height, durationMs, scan } = file;
      const facts = { name, kind: kind!, contentType, size, problem: null };
      const caption = uploads[position]?.caption?.trim() || null;
      const added = this.add(tx, message, position, { ...facts, state: 'READY', fileId: file.id, caption });
      return { ...added, sha256, width, height, durationMs, scan, rendition: null, delivery: null };
    });
  }

  /** Attaches the files of an earlier message of the conversation to a message that repeats it. */
  attachAgain(tx: Transaction, message: AttachedMessage, repeated: AttachmentEntity[]): AttachmentEntity[] {
    return repeated.map((attachment) => {
      const { position, fileId, kind, name, contentType, size, state, problem, caption } = attachment;
      const facts = { fileId, kind, name, contentType, size, state, problem, caption };
      return { ...attachment, ...this.add(tx, message, position, facts), delivery: null };
    });
  }

  /** Attaches files that are still to be fetched to a message. */
  addReceived(tx: Transaction, message: AttachedMessage, received: ReceivedAttachment[]): AttachmentEntity[] {
    return received.map((attachment, position) => {
      const added = this.add(tx, message, position, { ...attachment, fileId: null });
      return { ...added, ...NOT_STORED };
    });
  }

  private add(
    tx: Transaction,
    { tenantId, conversationId, id: messageId, createdAt }: AttachedMessage,
    position: number,
    given: Omit<NewAttachment, 'tenantId' | 'id' | 'conversationId' | 'messageId' | 'position' | 'createdAt'>,
  ): NewAttachment {
    const attachment = { tenantId, id: newId(), conversationId, messageId, position, createdAt, ...given };
    this.attachments.insertPipelined(tx, attachment);
    return attachment;
  }
}

/** Refuses a file that a channel takes in no form. */
function requireForm(channel: Channel, { kind, contentType, size }: FileEntity, field: string): void {
  const found = formOnChannel(channel, { kind: kind!, contentType: contentType!, size });
  if (!('refusal' in found)) return;
  const { label } = describeChannel(channel);
  if (found.refusal === 'type')
    throw AppError.invalidBody(field, 'file_type_refused', { channel: label, type: contentType! });
  const { form, maxBytes: max } = found;
  throw AppError.invalidBody(field, 'file_too_large', { channel: label, form, max });
}

const NOT_STORED = {
  sha256: null,
  width: null,
  height: null,
  durationMs: null,
  scan: null,
  rendition: null,
  delivery: null,
};
