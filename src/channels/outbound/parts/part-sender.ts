import { Injectable } from '@nestjs/common';
import { AttachmentEntity } from '../../../attachments/attachment.entity';
import { FileMissing, FileStore } from '../../../attachments/store/file-store';
import { Database } from '../../../database/database';
import { ChannelAdapter, SendOutcome } from '../../adapters/channel-adapter';
import { FileSending, OutboundFile } from '../../adapters/outbound-file';
import { ClaimedMessage } from '../claimed-message';
import { OutboundMessagesRepository } from '../outbound-messages.repository';
import { FileLinks } from './file-links';
import { MessagePart } from './message-part';
import { MessagePartsRepository } from './message-parts.repository';
import { PartLease } from './part-lease';
import { formOf } from './part-plan';
import { NextPart } from './part-plans';

/** Outcome of the request of a part. */
export interface PartAttempt {
  /** Null if another worker has the message, or it was erased: then there is nothing to record. */
  outcome: SendOutcome | null;
  /** Reference that the provider has given the file, and for how long it lives; null if it gave none. */
  kept: { reference: string; livesMs: number } | null;
}

/** Sends one part of a message, while it extends the message's lease. */
@Injectable()
export class PartSender {
  constructor(
    private readonly database: Database,
    private readonly messages: OutboundMessagesRepository,
    private readonly parts: MessagePartsRepository,
    private readonly store: FileStore,
    private readonly links: FileLinks,
  ) {}

  /** Makes one attempt to send a part. Throws only errors of the database, before the request begins. */
  async send(
    message: ClaimedMessage,
    recipientId: string,
    next: NextPart,
    adapter: ChannelAdapter,
  ): Promise<PartAttempt> {
    const lease = new PartLease(this.database, this.messages, this.parts, message, next.part);
    const attempt: PartAttempt = { outcome: null, kept: null };
    lease.start();
    try {
      const outcome = await this.request(message, recipientId, next, adapter, lease, attempt);
      // An answer counts although the lease was lost after the request had begun.
      if (!lease.isLost || lease.hasBegun) attempt.outcome = outcome;
    } catch (error) {
      if (!lease.isLost) throw error;
    } finally {
      lease.stop();
    }
    return attempt;
  }

  private async request(
    message: ClaimedMessage,
    recipientId: string,
    { part, attachment, known }: NextPart,
    adapter: ChannelAdapter,
    lease: PartLease,
    attempt: PartAttempt,
  ): Promise<SendOutcome> {
    const { connection, conversationId } = message;
    const base = { messageId: part.id, conversationId, recipientId };
    const text = textOf(message, part, attachment);
    if (part.fileId === null) {
      await lease.begin();
      return adapter.send(connection, { ...base, body: text ?? '' });
    }
    const form = attachment && formOf(connection.channel, attachment);
    if (!form) return refused('The channel takes no such file.');
    const { id: attachmentId, name, contentType, size } = attachment;
    const file: OutboundFile = {
      ...base,
      form,
      name: name || 'file',
      contentType: contentType!,
      size: size!,
      caption: text,
    };
    const key = { tenantId: message.tenantId, fileId: part.fileId };
    const sending: FileSending = {
      known,
      keep: (reference, livesMs) => (attempt.kept = { reference, livesMs }),
      open: () => this.store.open(key),
      link: () => this.links.make({ tenantId: message.tenantId, attachmentId }),
      begin: () => lease.begin(),
      signal: lease.signal,
    };
    try {
      return await adapter.sendFile!(connection, file, sending);
    } catch (error) {
      if (error instanceof FileMissing) return refused('The file is not stored any more.');
      if (lease.hasBegun || lease.isLost) throw error;
      const fault = { providerCode: null, message: 'The file could not be read.' };
      return { kind: 'RETRY', fault };
    }
  }
}

/** Returns the text of a part: the message's, the attachment's caption, or none. */
function textOf(
  { body }: ClaimedMessage,
  { content }: MessagePart,
  attachment: AttachmentEntity | null,
): string | null {
  if (content === 'BODY' || content === 'FILE_WITH_BODY') return body;
  return content === 'FILE' ? null : (attachment?.caption ?? null);
}

function refused(message: string): SendOutcome {
  return { kind: 'TERMINAL', fault: { providerCode: null, message } };
}
