import type { ConversationEvent } from '../protocol/types';

/** Minimum pause between two reports of the visitor's typing. The service forgets a report after 6 s. */
const REPEAT_MS = 3000;
/** Time after which an agent without a new typing event is no longer shown as typing. */
const ENDS_MS = 6500;

/** Tracks whether agents are online or typing, and tells the service that the visitor is typing. */
export class Presence {
  /** Whether an agent is online; null if the service does not report it. */
  isOnline: boolean | null = null;
  /** Name of the agent who is typing, empty if the agent has no name; null if no agent is typing. */
  typist: string | null = null;
  private endTimer: ReturnType<typeof setTimeout> | undefined;
  /** Epoch milliseconds of the latest report that the visitor is typing; 0 if the visitor is not typing. */
  private toldAt = 0;

  constructor(
    private readonly tell: (isTyping: boolean) => void,
    private readonly onChange: () => void,
  ) {}

  take(event: ConversationEvent): void {
    if (event.type === 'typing') this.setTypist(event.isTyping ? (event.name ?? '') : null);
    // A new message of an agent ends the agent's typing.
    if (event.type === 'message' && event.message.senderType !== 'CUSTOMER') this.setTypist(null);
    if (event.type !== 'ready' && event.type !== 'heartbeat') return;
    this.isOnline = event.isOnline ?? null;
    this.onChange();
  }

  /** Reports that the visitor types, or has stopped if `text` is empty; only while an agent is online. */
  type(text: string): void {
    const isTyping = text.trim() !== '';
    const now = Date.now();
    if (!this.isOnline || (isTyping ? now - this.toldAt < REPEAT_MS : !this.toldAt)) return;
    this.toldAt = isTyping ? now : 0;
    this.tell(isTyping);
  }

  private setTypist(typist: string | null): void {
    clearTimeout(this.endTimer);
    if (typist !== null) this.endTimer = setTimeout(() => this.setTypist(null), ENDS_MS);
    if (typist === this.typist) return;
    this.typist = typist;
    this.onChange();
  }
}
