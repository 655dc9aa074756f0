import type { Message, Position } from '../protocol/types';

/** The conversation as this tab knows it: an unbroken run of messages up to the newest. */
export class Timeline {
  conversationId: string | null = null;
  /** True once the newest messages have been read. */
  isLoaded = false;
  /** Number of the latest event up to which nothing is missing; null before anything was read. */
  sequence: number | null = null;
  /** Cursor of the next older page; null if no older message exists. */
  olderCursor: string | null = null;
  /** Messages from the oldest to the newest. Each change makes a new array. */
  messages: readonly Message[] = [];
  private newestAtSequence: string | null = null;

  has(id: string): boolean {
    return this.messages.some((message) => message.id === id);
  }

  /** Reports whether a message is older than those that have been read. */
  beginsAfter({ id }: Message): boolean {
    return this.olderCursor !== null && id < (this.messages[0]?.id ?? '');
  }

  /**
   * Adds messages and returns those that are new. A known message is replaced, because its status may have
   * changed.
   */
  add(messages: readonly Message[]): Message[] {
    const added = messages.filter(({ id }) => !this.has(id));
    const byId = new Map([...this.messages, ...messages].map((message) => [message.id, message]));
    this.messages = [...byId.values()].sort((one, other) => (one.id < other.id ? -1 : 1));
    return added;
  }

  /** Records that no message is missing up to a position. */
  reached({ conversationId, sequence }: Position): void {
    this.conversationId = conversationId;
    this.sequence = sequence;
    this.newestAtSequence = this.messages.at(-1)?.id ?? null;
  }

  /** Reports whether a page, newest first, leaves no gap to the messages at the stored sequence. */
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
   * Raises the status of the agents' messages up to and including the id `upTo`. QUEUED messages keep their
   * status.
   */
  advance(upTo: string, status: 'DELIVERED' | 'READ'): void {
    this.messages = this.messages.map((message) =>
      message.id <= upTo && isBefore(message.delivery.status, status)
        ? { ...message, delivery: { status } }
        : message,
    );
  }
}

/**
 * Reports whether a message's status comes before another one. A null, which the visitor's own messages have,
 * does not.
 */
export function isBefore(current: string | null, status: 'DELIVERED' | 'READ'): boolean {
  if (current === null || current === 'QUEUED' || current === 'READ') return false;
  return status === 'READ' || current !== 'DELIVERED';
}
