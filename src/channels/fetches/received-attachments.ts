import { Injectable } from '@nestjs/common';
import { AttachmentWriter, ReceivedAttachment } from '../../attachments/attachment-writer';
import { Config } from '../../config/config';
import { Transaction } from '../../database/transaction';
import { MessageEntity } from '../../messages/message.entity';
import { Connection } from '../adapters/channel-adapter';
import { InboundFile, InboundMessage } from '../adapters/hook-events';
import { saysOnlyFiles } from '../../messages/described-files';
import { storableCaption, storableLabel } from '../customers/inbound-content';
import { AttachmentFetchesRepository } from './attachment-fetches.repository';

/** Largest number of files of one message that are fetched. No channel sends more. */
const MAX_RECEIVED = 30;
const MAX_NAME_CHARACTERS = 255;
const MAX_TYPE_CHARACTERS = 100;

/** Adds the files of customers' messages, which are still to be fetched. */
@Injectable()
export class ReceivedAttachments {
  constructor(
    private readonly config: Config,
    private readonly writer: AttachmentWriter,
    private readonly fetches: AttachmentFetchesRepository,
  ) {}

  /** Returns the columns of a message that has these files. */
  columnsOf(message: InboundMessage): Pick<MessageEntity, 'attachmentCount' | 'isDescribed'> {
    const { files = [], body, caption = null } = message;
    const names = files.map(({ name }) => name);
    return {
      attachmentCount: Math.min(files.length, MAX_RECEIVED),
      isDescribed: files.length > 0 && saysOnlyFiles(body, caption, names),
    };
  }

  /** Adds a message's attachments, with their fetches, in the transaction that stores the message. */
  add(
    tx: Transaction,
    { id: connectionId, channel }: Connection,
    message: MessageEntity,
    { files = [], caption = null }: InboundMessage,
  ): void {
    const kept = files.slice(0, MAX_RECEIVED);
    const state = channel === 'INSTAGRAM' && this.config.instagramFiles === 'link' ? 'LINK_ONLY' : 'PENDING';
    const received = kept.map((file, n) => toAttachment(file, n === 0 ? caption : null, state));
    const attachments = this.writer.addReceived(tx, message, received);
    for (const [n, { tenantId, id }] of attachments.entries()) {
      const { reference } = kept[n]!;
      if (reference === null) continue;
      const key = { tenantId, attachmentId: id };
      this.fetches.insertPipelined(tx, key, connectionId, reference, state === 'PENDING');
    }
  }
}

function toAttachment(
  { kind, name, contentType, size, reference, problem }: InboundFile,
  caption: string | null,
  state: 'PENDING' | 'LINK_ONLY',
): ReceivedAttachment {
  return {
    kind,
    name: storableLabel(name, MAX_NAME_CHARACTERS),
    contentType: storableLabel(contentType, MAX_TYPE_CHARACTERS),
    size: size !== null && Number.isSafeInteger(size) && size >= 0 ? size : null,
    caption: storableCaption(caption),
    ...(reference === null ? { state: 'FAILED', problem: problem ?? 'GONE' } : { state, problem: null }),
  };
}
