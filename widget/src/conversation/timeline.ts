import type { Message, Position } from '../protocol/types';

/** Stores the messages that this tab has read. No message between the oldest and the newest is missing. */
export class Timeline {
  conversationId: string | null = null;
  /** Whether the newest messages have been read. */
  isLoaded = false;
  /** Sequence number of the latest event up to which no message is missing; null before the first read. */
  sequence: number | null = null;
  olderCursor: string | null = null;
  /** Messages, oldest first. Each change replaces the array. */
  messages: readonly Message[] = [];
  private newestAtSequence: string | null = null;

  has(id: string): boolean {
    return this.messages.some((message) => message.id === id);
  }

  /** Reports whether a message belongs to an older page that was not read yet. */
  beginsAfter({ id }: Message): boolean {
    return this.olderCursor !== null && id < (this.messages[0]?.id ?? '');
  }

  /** Adds messages and returns those that were unknown. Replaces known ones, as their status may differ. */
  add(messages: readonly Message[]): Message[] {
    const added = messages.filter(({ id }) => !this.has(id));
    const byId = new Map([...this.messages, ...messages].map((message) => [message.id, message]));
    this.messages = [...byId.values()].sort((one, other) => (one.id < other.id ? -1 : 1));
    return added;
  }

  /** Records that no message is missing up to the sequence number of a position. */
  reached({ conversationId, sequence }: Position): void {
    this.conversationId = conversationId;
    this.sequence = sequence;
    this.newestAtSequence = this.messages.at(-1)?.id ?? null;
  }

  /** Reports whether a page (newest first) reaches back to messages known at the latest call of `reached`. */
  isReachedBy(page: readonly Message[]): boolean {
    const oldest = page.at(-1);
    return oldest !== undefined && this.newestAtSequence !== null && oldest.id <= this.newestAtSequence;
  }

  replace(messages: readonly Message[], olderCursor: string | null): void {
    this.messages = [];
    this.newestAtSequence = null;
    this.olderCursor = olderCursor;
    this.add(messages);
  }

  /** Raises the status of agents' messages up to the id `upTo`, except QUEUED ones. */
  advance(upTo: string, status: 'DELIVERED' | 'READ'): void {
    this.messages = this.messages.map((message) =>
      message.id <= upTo && isBefore(message.delivery.status, status)
        ? { ...message, delivery: { status } }
        : message,
    );
  }
}

/**
 * Reports whether a message can advance from status `current` to `status`. False for QUEUED, and for null,
 * which is the status of the visitor's own messages.
 */
export function isBefore(current: string | null, status: 'DELIVERED' | 'READ'): boolean {
  if (current === null || current === 'QUEUED' || current === 'READ') return false;
  return status === 'READ' || current !== 'DELIVERED';
}
