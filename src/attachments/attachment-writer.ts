import { Injectable } from '@nestjs/common';
import { AppError } from '../common/app-error';
import { isId, newId } from '../common/ids';
import { ConversationKey } from '../database/tables/table-declaration';
import { Transaction } from '../database/transaction';
import { AttachUpload } from './attachment.dto';
import { AttachmentEntity, AttachmentProblem } from './attachment.entity';
import { AttachmentsRepository, NewAttachment } from './attachments.repository';
import { FileEntity, FileKind } from './files/file.entity';
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
   * @param uploader who may use them, such as `agent:` with an id
   * @returns the files, in the order of the uploads
   * @throws AppError INVALID_BODY with the first upload that cannot be used
   */
  async lockUploads(
    tx: Transaction,
    { tenantId, conversationId }: ConversationKey,
    uploads: AttachUpload[],
    uploader: string,
  ): Promise<FileEntity[]> {
    const ids = uploads.map(({ uploadId }) => uploadId);
    const locked = await this.files.lock(tx, tenantId, ids.filter(isId));
    return ids.map((id, n) => {
      const field = `attachments[${n}].uploadId`;
      const file = locked.find((one) => one.id === id);
      if (!file || file.uploader !== uploader || file.conversationId !== conversationId)
        throw AppError.invalidBody(field, 'upload_unknown');
      if (file.deleteAt === null || ids.indexOf(id) !== n) throw AppError.invalidBody(field, 'upload_in_use');
      if (file.storedAt === null) throw AppError.invalidBody(field, 'upload_not_ready');
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
      return { ...added, sha256, width, height, durationMs, scan, rendition: null };
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

const NOT_STORED = { sha256: null, width: null, height: null, durationMs: null, scan: null, rendition: null };
