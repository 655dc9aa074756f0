import { FileKind } from '../../../common/file-limits';
import { InboundFile } from '../hook-events';
import { lookUp, objectOf, objectsOf, ProviderObject, textOf } from '../provider-values';

/** Kinds of files by the type of an attachment at Messenger and Instagram. Other types are no files. */
const KINDS: Record<string, FileKind> = {
  image: 'IMAGE',
  sticker: 'IMAGE',
  audio: 'AUDIO',
  video: 'VIDEO',
  reel: 'VIDEO',
  ig_reel: 'VIDEO',
  story_mention: 'IMAGE',
  ephemeral: 'IMAGE',
  file: 'FILE',
};

/** Reads the files of a message at Messenger or Instagram. Their text is a part of the message. */
export function readMessagingFiles(
  message: ProviderObject,
): { files: InboundFile[]; caption: string | null } | null {
  const attachments = withoutDoubles(objectsOf(message.attachments));
  const files = attachments.flatMap(({ type, payload }): InboundFile[] => {
    const kind = lookUp(KINDS, textOf(type) ?? '');
    if (kind === undefined) return [];
    const url = textOf(objectOf(payload).url);
    return [{ kind, name: null, contentType: null, size: null, reference: url === null ? null : { url } }];
  });
  return files.length === 0 ? null : { files, caption: textOf(message.text) };
}

/** Leaves out the picture that Messenger sent beside each sticker until August 2026. */
function withoutDoubles(attachments: ProviderObject[]): ProviderObject[] {
  if (!attachments.some(({ type }) => type === 'sticker')) return attachments;
  return attachments.filter(
    ({ type, payload }) => type !== 'image' || textOf(objectOf(payload).sticker_id) === null,
  );
}

/** Returns a message without the addresses of its files, which open them for whoever has them. */
export function withoutFileAddresses(message: ProviderObject): ProviderObject {
  if (!Array.isArray(message.attachments)) return message;
  const attachments = objectsOf(message.attachments).map((attachment) => {
    if (lookUp(KINDS, textOf(attachment.type) ?? '') === undefined) return attachment;
    const payload = { ...objectOf(attachment.payload) };
    delete payload.url;
    return { ...attachment, payload };
  });
  return { ...message, attachments };
}
