import { AttachmentEntity } from '../../../attachments/attachment.entity';
import { Channel } from '../../../common/channel-descriptors';
import { FileForm, formOnChannel, isCaptionOn } from '../../../common/file-limits';
import { MessagePart, PlannedPart } from './message-part';

type PlannedFile = Pick<AttachmentEntity, 'id' | 'fileId' | 'kind' | 'contentType' | 'size' | 'caption'>;

/**
 * Plans the parts of a message with files, in the order in which the customer gets them. A text is the
 * caption of its file where it fits there, else it is a part of its own before the file.
 * @param body the message's text; null if it only describes the files
 */
export function planParts(channel: Channel, body: string | null, files: PlannedFile[]): PlannedPart[] {
  return files.flatMap((file, n) => {
    const { id: attachmentId, fileId, caption } = file;
    const form = formOf(channel, file);
    const fits = (text: string) => form !== null && isCaptionOn(channel, form, text);
    const text = n === 0 ? body : null;
    const isBodyWithFile = text !== null && caption === null && fits(text);
    const isCaptionWithFile = caption !== null && fits(caption);
    const parts: PlannedPart[] = [];
    if (text !== null && !isBodyWithFile) parts.push({ content: 'BODY', attachmentId: null, fileId: null });
    if (caption !== null && !isCaptionWithFile)
      parts.push({ content: 'CAPTION', attachmentId, fileId: null });
    const content = isBodyWithFile ? 'FILE_WITH_BODY' : isCaptionWithFile ? 'FILE_WITH_CAPTION' : 'FILE';
    return [...parts, { content, attachmentId, fileId }];
  });
}

/** Returns the form in which a channel takes a stored file; null if it takes it in none. */
export function formOf(
  channel: Channel,
  { kind, contentType, size }: Pick<AttachmentEntity, 'kind' | 'contentType' | 'size'>,
): FileForm | null {
  if (contentType === null || size === null) return null;
  const chosen = formOnChannel(channel, { kind, contentType, size });
  return 'form' in chosen ? chosen.form : null;
}

/**
 * Chooses the status with which each part of a message begins that repeats a lost one. A part that arrived is
 * not sent again. A part that may have arrived is sent again only if no part has certainly failed.
 * @param isSameText whether both messages have the same text
 */
export function statusesOfRepeat(
  planned: PlannedPart[],
  before: Pick<MessagePart, 'content' | 'fileId' | 'status' | 'error'>[],
  isSameText: boolean,
): Pick<MessagePart, 'status' | 'error'>[] {
  const hasFailed = before.some(({ status }) => status === 'FAILED' || status === 'QUEUED');
  return planned.map(({ content, fileId }, n) => {
    const old = before[n];
    const isSame = old?.content === content && old.fileId === fileId && (isSameText || !hasBody(content));
    if (!isSame || old.status === 'FAILED' || old.status === 'QUEUED') return QUEUED;
    if (!ENDED.includes(old.status) && !hasFailed) return QUEUED;
    return { status: old.status === 'SENDING' ? 'UNKNOWN' : old.status, error: old.error };
  });
}

const QUEUED = { status: 'QUEUED', error: null } as const;
const ENDED = ['SENT', 'DELIVERED', 'READ'];

function hasBody(content: PlannedPart['content']): boolean {
  return content === 'BODY' || content === 'FILE_WITH_BODY';
}
