import { FileKind } from '../../../common/file-limits';
import { InboundFile } from '../hook-events';
import { lookUp, objectOf, objectsOf, ProviderObject, textOf } from '../provider-values';
import { withoutFileAddresses } from './file-addresses';

/** Kinds of files by the type of a WhatsApp message. A sticker is a picture in WebP. */
const KINDS: Record<string, FileKind> = {
  image: 'IMAGE',
  sticker: 'IMAGE',
  video: 'VIDEO',
  audio: 'AUDIO',
  document: 'FILE',
};
/** Error of a file that WhatsApp does not hand out, because it has more than 100 MB. */
const TOO_BIG_CODE = '131052';

/** Reads the file of a WhatsApp message, and the text that the customer wrote to it. */
export function readWhatsAppFile(
  message: ProviderObject,
): { files: InboundFile[]; caption: string | null } | null {
  const type = textOf(message.type) ?? '';
  const kind = lookUp(KINDS, type);
  const media = objectOf(message[type]);
  if (kind === undefined) return isTooBig(message) ? { files: [TOO_BIG_FILE], caption: null } : null;
  const id = textOf(media.id);
  const sha256 = hexOf(textOf(media.sha256));
  const file: InboundFile = {
    kind,
    name: textOf(media.filename),
    contentType: textOf(media.mime_type),
    size: null,
    reference: id === null ? null : { id, ...(sha256 !== null && { sha256 }) },
  };
  return { files: [file], caption: textOf(media.caption) };
}

/** Returns a WhatsApp message without the addresses of files. They open the files for whoever has them. */
export function withoutFileAddress(message: ProviderObject): ProviderObject {
  const type = textOf(message.type) ?? '';
  if (lookUp(KINDS, type) === undefined) return withoutFileAddresses(message);
  const media = { ...objectOf(message[type]) };
  delete media.url;
  return withoutFileAddresses({ ...message, [type]: media });
}

const TOO_BIG_FILE: InboundFile = {
  kind: 'FILE',
  name: null,
  contentType: null,
  size: null,
  reference: null,
  problem: 'TOO_BIG',
};

function isTooBig({ errors }: ProviderObject): boolean {
  return objectsOf(errors).some(({ code }) => textOf(code) === TOO_BIG_CODE);
}

/** Converts the hash of a hook, which is in base64, to hex. */
function hexOf(base64: string | null): string | null {
  const bytes = Buffer.from(base64 ?? '', 'base64');
  return bytes.length === 32 ? bytes.toString('hex') : null;
}
