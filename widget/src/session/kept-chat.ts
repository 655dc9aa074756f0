import { readStored, writeStored } from './stored';

/** State of a tab's chat that outlives a change of the page. */
export interface KeptChat {
  /** Visitor whose chat it is. */
  owner: string;
  /** Text that the visitor has typed and not sent. */
  draft: string;
  isOpen: boolean;
}

/** Most characters of a kept draft: four times the limit of a message. */
const MAX_DRAFT = 16_384;

/** Reports whether stored values make up a kept chat, each of its type. */
export const isKeptChat = ({ owner, draft, isOpen }: Partial<Record<keyof KeptChat, unknown>>): boolean =>
  `${typeof owner} ${typeof draft} ${typeof isOpen}` === 'string string boolean';

/** Returns the kept chat of the tab; null when there is none. */
export const readKept = (key: string): KeptChat | null =>
  readStored<KeptChat>('sessionStorage', key, isKeptChat);

/**
 * Keeps a chat until the tab is closed, or forgets it when it is closed and has no draft. Returns false if it
 * can't: then the chat ends with the page.
 */
export function keepChat(key: string, { owner, draft, isOpen }: KeptChat): boolean {
  const kept = draft || isOpen ? { owner, draft: draft.slice(0, MAX_DRAFT), isOpen } : null;
  return writeStored('sessionStorage', key, kept);
}
