import { FileKind } from '../../../common/file-limits';
import { FileReference, InboundFile } from '../hook-events';
import { numberOf, objectOf, objectsOf, ProviderObject, textOf } from '../provider-values';
import { captionOf } from './telegram-content';

/**
 * Kinds of files by the key of a Telegram message. The first key counts: an animation and a live photo also
 * have the keys of an older form.
 */
const KINDS: [field: string, kind: FileKind][] = [
  ['animation', 'VIDEO'],
  ['live_photo', 'VIDEO'],
  ['photo', 'IMAGE'],
  ['video', 'VIDEO'],
  ['video_note', 'VIDEO'],
  ['voice', 'AUDIO'],
  ['audio', 'AUDIO'],
  ['sticker', 'IMAGE'],
  ['document', 'FILE'],
];

/** Longest duration in seconds that is believed: a week. */
const MAX_SECONDS = 7 * 24 * 3600;

/** Reads the file of a Telegram message, and the text that the customer wrote to it. */
export function readTelegramFile(
  message: ProviderObject,
): { files: InboundFile[]; caption: string | null } | null {
  const found = KINDS.find(([field]) => field in message);
  if (!found) return null;
  const [field, kind] = found;
  const file = field === 'photo' ? largestOf(objectsOf(message.photo)) : objectOf(message[field]);
  const id = textOf(file.file_id);
  if (id === null) return null;
  const received: InboundFile = {
    kind: field === 'sticker' && (file.is_video === true || file.is_animated === true) ? 'FILE' : kind,
    name: textOf(file.file_name),
    contentType: textOf(file.mime_type),
    size: numberOf(file.file_size),
    reference: { id, ...durationOf(file) },
  };
  return { files: [received], caption: captionOf(message) };
}

/** Returns the duration of audio or video, which Telegram gives in seconds. */
function durationOf({ duration }: ProviderObject): Pick<FileReference, 'durationMs'> {
  const seconds = numberOf(duration);
  return seconds !== null && seconds >= 0 && seconds <= MAX_SECONDS ? { durationMs: seconds * 1000 } : {};
}

/** Returns the largest of the sizes in which Telegram hands out a photo. */
function largestOf(sizes: ProviderObject[]): ProviderObject {
  const area = ({ width, height }: ProviderObject) => (numberOf(width) ?? 0) * (numberOf(height) ?? 0);
  return sizes.reduce((one, other) => (area(other) >= area(one) ? other : one), {});
}
