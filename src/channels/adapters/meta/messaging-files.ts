import { FileKind } from '../../../common/file-limits';
import { InboundFile } from '../hook-events';
import { lookUp, objectOf, objectsOf, ProviderObject, textOf } from '../provider-values';
import { isFileAddress, withoutFileAddresses } from './file-addresses';

/** Kinds of files by the type of an attachment at Messenger and Instagram. */
const KINDS: Record<string, FileKind> = {
  image: 'IMAGE',
  sticker: 'IMAGE',
  audio: 'AUDIO',
  video: 'VIDEO',
  story_mention: 'IMAGE',
  ephemeral: 'IMAGE',
  file: 'FILE',
};
/** Kinds by the types of posts. The address of a post is that of a file, or of a page. */
const POST_KINDS: Record<string, FileKind> = {
  reel: 'VIDEO',
  ig_reel: 'VIDEO',
  share: 'IMAGE',
  post: 'IMAGE',
  ig_post: 'IMAGE',
};

/** Reads the files of a message at Messenger or Instagram. Their text is a part of the message. */
export function readMessagingFiles(
  message: ProviderObject,
): { files: InboundFile[]; caption: string | null } | null {
  const files = listAttachments(message).flatMap((attachment): InboundFile[] => {
    const kind = fileKindOf(attachment);
    if (kind === undefined) return [];
    const url = addressOf(attachment);
    return [{ kind, name: null, contentType: null, size: null, reference: url === null ? null : { url } }];
  });
  return files.length === 0 ? null : { files, caption: textOf(message.text) };
}

/**
 * Lists the attachments of a message. Leaves out the picture that Messenger sent beside each sticker until
 * August 2026.
 */
export function listAttachments(message: ProviderObject): ProviderObject[] {
  const attachments = objectsOf(message.attachments);
  if (!attachments.some(({ type }) => type === 'sticker')) return attachments;
  return attachments.filter(
    ({ type, payload }) => type !== 'image' || textOf(objectOf(payload).sticker_id) === null,
  );
}

/** Returns a message without the addresses of its files, which open them for whoever has them. */
export function withoutAddresses(message: ProviderObject): ProviderObject {
  if (!Array.isArray(message.attachments)) return withoutFileAddresses(message);
  const attachments = objectsOf(message.attachments).map((attachment) => {
    if (fileKindOf(attachment) === undefined) return attachment;
    const payload = { ...objectOf(attachment.payload) };
    delete payload.url;
    return { ...attachment, payload };
  });
  return withoutFileAddresses({ ...message, attachments });
}

function fileKindOf(attachment: ProviderObject): FileKind | undefined {
  const type = textOf(attachment.type) ?? '';
  return (
    lookUp(KINDS, type) ?? (isFileAddress(addressOf(attachment) ?? '') ? lookUp(POST_KINDS, type) : undefined)
  );
}

function addressOf({ payload }: ProviderObject): string | null {
  return textOf(objectOf(payload).url);
}
