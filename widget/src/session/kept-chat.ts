import { readStored, writeStored } from './stored';

/** State of a tab's chat that survives a change of page in the tab. */
export interface KeptChat {
  owner: string;
  draft: string;
  isOpen: boolean;
}

/** Maximum UTF-16 code units of a stored draft: four times the limit of a message. */
const MAX_DRAFT = 16_384;

/** Reports whether a stored object has all fields of a kept chat, with their types. */
export const isKeptChat = ({ owner, draft, isOpen }: Partial<Record<keyof KeptChat, unknown>>): boolean =>
  `${typeof owner} ${typeof draft} ${typeof isOpen}` === 'string string boolean';

export const readKept = (key: string): KeptChat | null =>
  readStored<KeptChat>('sessionStorage', key, isKeptChat);

/**
 * Stores a chat in the tab's sessionStorage, or removes it if it is closed and has no draft. Returns false if
 * the browser refuses storage, so that the draft is lost with the page.
 */
export function keepChat(key: string, { owner, draft, isOpen }: KeptChat): boolean {
  const kept = draft || isOpen ? { owner, draft: draft.slice(0, MAX_DRAFT), isOpen } : null;
  return writeStored('sessionStorage', key, kept);
}
