/** State of the chat that outlives a change of the page. */
export interface KeptChat {
  /** Visitor whose chat it is. */
  owner: string;
  /** Text that the visitor has typed and not sent. */
  draft: string;
  isOpen: boolean;
}

/** Most characters of a draft that are kept: four times what a message may have. */
const MAX_DRAFT = 16_384;

/**
 * State of the chat in one tab, until the tab is closed. If storage is refused, it ends with the page.
 */
export class TabStore {
  constructor(private readonly key: string) {}

  read(): KeptChat | null {
    try {
      const kept = JSON.parse(sessionStorage.getItem(this.key) ?? 'null') as KeptChat | null;
      return typeof kept?.owner === 'string' && typeof kept.draft === 'string' ? kept : null;
    } catch {
      // Storage is refused, or the page has written something else.
      return null;
    }
  }

  /** Stores the state; removes it when there is neither a draft nor an open chat. */
  write({ owner, draft, isOpen }: KeptChat): void {
    try {
      if (!draft && !isOpen) sessionStorage.removeItem(this.key);
      else
        sessionStorage.setItem(this.key, JSON.stringify({ owner, draft: draft.slice(0, MAX_DRAFT), isOpen }));
    } catch {
      // Storage is refused, or full.
    }
  }
}
