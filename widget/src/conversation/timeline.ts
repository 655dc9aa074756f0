import type { Message, Position } from '../protocol/types';

/** The conversation as this tab knows it: an unbroken run of messages up to the newest. */
export class Timeline {
  conversationId: string | null = null;
  /** The newest messages have been read. */
  isLoaded = false;
  /** Up to which it has everything; null before anything was read. */
  sequence: number | null = null;
  /** Cursor of the next older page; null if no older message exists. */
  olderCursor: string | null = null;
  /** Messages from the oldest to the newest. Each change makes a new array. */
  messages: readonly Message[] = [];
  private newestAtSequence: string | null = null;

  has(id: string): boolean {
    return this.messages.some((message) => message.id === id);
  }

  /** Reports whether a message is among the older ones that have not been read. */
  beginsAfter({ id }: Message): boolean {
    return this.olderCursor !== null && id < (this.messages[0]?.id ?? '');
  }

  /** Returns the messages that are new. Those that are known are replaced: a status may have changed. */
  add(messages: readonly Message[]): Message[] {
    const added = messages.filter(({ id }) => !this.has(id));
    const byId = new Map([...this.messages, ...messages].map((message) => [message.id, message]));
    this.messages = [...byId.values()].sort((one, other) => (one.id < other.id ? -1 : 1));
    return added;
  }

  /** Everything up to this position is here. */
  reached({ conversationId, sequence }: Position): void {
    this.conversationId = conversationId;
    this.sequence = sequence;
    this.newestAtSequence = this.messages.at(-1)?.id ?? null;
  }

  /** Reports whether a page, newest first, leaves no gap to what was here at the stored sequence. */
  isReachedBy(page: readonly Message[]): boolean {
    const oldest = page.at(-1);
    return oldest !== undefined && this.newestAtSequence !== null && oldest.id <= this.newestAtSequence;
  }

  /** Replaces all messages, after a change of conversation or a full reload. */
  replace(messages: readonly Message[], olderCursor: string | null): void {
    this.messages = [];
    this.newestAtSequence = null;
    this.olderCursor = olderCursor;
    this.add(messages);
  }

  /**
   * Raises the status of the agents' messages up to and including one. Messages that are not DELIVERED yet
   * keep theirs.
   */
  advance(upTo: string, status: 'DELIVERED' | 'READ'): void {
    this.messages = this.messages.map((message) =>
      message.id <= upTo && isBefore(message.delivery.status, status)
        ? { ...message, delivery: { status } }
        : message,
    );
  }
}

/** Null, of the visitor's own messages, has no status after it. */
export function isBefore(current: string | null, status: 'DELIVERED' | 'READ'): boolean {
  if (current === null || current === 'QUEUED' || current === 'READ') return false;
  return status === 'READ' || current !== 'DELIVERED';
}
