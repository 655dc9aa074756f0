import type { ConversationEvent } from '../protocol/types';

/** Pause between two notices that the visitor types. The service forgets one after 6 seconds. */
const REPEAT_MS = 3000;
/** Time after which an agent who types, and does not say so again, has ended. */
const ENDS_MS = 6500;

/** Presence of the agents and of the visitor at the moment. Nothing of it is stored. */
export class Presence {
  /** Whether an agent is there; null if the widget does not show it. */
  isOnline: boolean | null = null;
  /** Name of the agent who types, empty for one without a name; null if no agent types. */
  typist: string | null = null;
  private endTimer: ReturnType<typeof setTimeout> | undefined;
  /** Time of the last notice; 0 after the visitor has ended. */
  private toldAt = 0;

  /**
   * Makes the presence of a visitor that the service does not know of yet.
   * @param tell sends the service a notice
   */
  constructor(
    private readonly tell: (isTyping: boolean) => void,
    private readonly onChange: () => void,
  ) {}

  /** Takes an event's changes over. */
  take(event: ConversationEvent): void {
    if (event.type === 'typing') this.setTypist(event.isTyping ? (event.name ?? '') : null);
    // The agent has sent the typed text.
    if (event.type === 'message' && event.message.senderType !== 'CUSTOMER') this.setTypist(null);
    if (event.type !== 'ready' && event.type !== 'heartbeat') return;
    this.isOnline = event.isOnline ?? null;
    this.onChange();
  }

  /** Tells agents, if one is there, that the visitor's text has become another one. */
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
