import type { OutboxFile } from '../outbox/outbox-record';
import { readStored, writeStored } from './stored';

/** State of a tab's chat that survives a change of page in the tab. */
export interface KeptChat {
  owner: string;
  draft: string;
  /** Files of the draft; missing if an older version of the widget has stored the chat. */
  files?: readonly OutboxFile[];
  isOpen: boolean;
}

/** Maximum UTF-16 code units of a stored draft: four times the limit of a message. */
const MAX_DRAFT = 16_384;

/** Reports whether a stored object has all fields of a kept chat, with their types. */
export const isKeptChat = ({
  owner,
  draft,
  files = [],
  isOpen,
}: Partial<Record<keyof KeptChat, unknown>>): boolean =>
  `${typeof owner} ${typeof draft} ${typeof isOpen}` === 'string string boolean' &&
  Array.isArray(files) &&
  files.every((file: Partial<OutboxFile> | null) => typeof file?.fileId === 'string');

export const readKept = (key: string): KeptChat | null =>
  readStored<KeptChat>('sessionStorage', key, isKeptChat);

/**
 * Stores a chat in the tab's sessionStorage, or removes it if it is closed and has no draft. Returns false if
 * the browser refuses storage, so that the draft is lost with the page.
 */
export function keepChat(key: string, { owner, draft, files = [], isOpen }: KeptChat): boolean {
  const isEmpty = !draft && files.length === 0 && !isOpen;
  const kept = isEmpty ? null : { owner, draft: draft.slice(0, MAX_DRAFT), files, isOpen };
  return writeStored('sessionStorage', key, kept);
}
