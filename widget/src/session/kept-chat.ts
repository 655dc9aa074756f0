/** State of a tab's chat that outlives a change of the page. */
export interface KeptChat {
  /** Visitor whose chat it is. */
  owner: string;
  /** Text that the visitor has typed and not sent. */
  draft: string;
  isOpen: boolean;
}

/** Most characters of a draft that are kept: four times what a message may have. */
const MAX_DRAFT = 16_384;

/** Returns what the tab keeps; null when there is nothing, or storage is refused. */
export function readKept(key: string): KeptChat | null {
  try {
    return JSON.parse(sessionStorage.getItem(key)!) as KeptChat | null;
  } catch {
    return null;
  }
}

/** Keeps a chat until the tab is closed, or forgets it when it is closed and has no draft. */
export function keepChat(key: string, { owner, draft, isOpen }: KeptChat): void {
  try {
    if (draft || isOpen)
      sessionStorage.setItem(key, JSON.stringify({ owner, draft: draft.slice(0, MAX_DRAFT), isOpen }));
    else sessionStorage.removeItem(key);
  } catch {
    // Storage is refused, or full: the chat ends with the page.
  }
}
