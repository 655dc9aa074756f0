import type { OutboxFile } from '../outbox/outbox-record';
import type { Attachment, FileKind } from '../protocol/types';

/** File as the panel shows it: stored by the service, or still unsent. */
export interface ItemFile {
  /** Key of the file's element. It does not change when the service stores the message. */
  key: string;
  /** Id of the file's bytes in this browser; null if this browser does not have them. */
  fileId: string | null;
  /** Service's id of the stored file; null while the message is unsent. */
  attachmentId: string | null;
  kind: FileKind;
  type: string;
  name: string;
  size: number | null;
  width: number | null;
  height: number | null;
  state: 'unsent' | 'ready' | 'pending' | 'failed';
}

export const NO_FILES: readonly ItemFile[] = [];

const STATES: Partial<Record<string, ItemFile['state']>> = { READY: 'ready', FAILED: 'failed' };

/**
 * Describes the files of a stored message.
 *
 * @param own files as this browser has sent them, in the same order; undefined if it has not
 */
export function storedFiles(attachments: readonly Attachment[], own: OutboxFile[] = []): ItemFile[] {
  return attachments.map(({ id, kind, contentType, name, size, width, height, state }, index) => {
    const file: Partial<OutboxFile> = own[index] ?? {};
    const { fileId = null } = file;
    return {
      key: fileId ?? id,
      fileId,
      attachmentId: id,
      kind,
      type: contentType ?? '',
      name: name ?? file.name ?? '',
      size,
      width: width ?? file.width ?? null,
      height: height ?? file.height ?? null,
      state: STATES[state] ?? 'pending',
    };
  });
}

export function unsentFiles(files: readonly OutboxFile[]): ItemFile[] {
  return files.map(({ fileId, name, type, size, width = null, height = null }) => {
    const state = 'unsent' as const;
    return {
      key: fileId,
      fileId,
      attachmentId: null,
      kind: kindOf(type),
      type,
      name,
      size,
      width,
      height,
      state,
    };
  });
}

/** Returns the kind of a file by the content type that the browser has guessed from its name. */
function kindOf(type: string): FileKind {
  if (/^image\/(png|jpeg|gif|webp)$/.test(type)) return 'IMAGE';
  if (type.startsWith('audio/')) return 'AUDIO';
  return type.startsWith('video/') ? 'VIDEO' : 'FILE';
}
