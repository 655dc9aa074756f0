import type { VisitorChat } from './conversation/visitor-chat';
import { statusOf } from './protocol/service-client';

/**
 * Time in milliseconds after which an open chat that is unavailable is tried again, on average: pages that
 * were refused at one moment do not come back at one moment.
 */
const TRY_AGAIN_MS = 30_000;

/** Keeps why the service refuses the visitor at the moment. */
export class Refusals {
  present: 'identity' | 'unavailable' | null = null;
  /** Visitor who was refused last. */
  private visitor: VisitorChat | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;

  /**
   * Makes an empty one.
   * @param onTime is called some time after each refusal
   */
  constructor(private readonly onTime: () => void) {}

  /** Notes a refusal, and returns its kind if that is a new one, otherwise null. */
  note(error: unknown, visitor: VisitorChat): typeof this.present {
    const before = this.present;
    this.present = statusOf(error) === 401 ? 'identity' : 'unavailable';
    this.visitor = visitor;
    clearTimeout(this.timer);
    this.timer = setTimeout(this.onTime, TRY_AGAIN_MS * (0.75 + Math.random() / 2));
    return this.present === before ? null : this.present;
  }

  /** Ends the refusal for a visitor who is served, unless it is the one who was refused. */
  served(visitor: VisitorChat): void {
    if (visitor !== this.visitor) this.present = null;
  }

  /** Reports whether it is worth while to try whether the service takes the visitor by now. */
  mayHaveEnded(visitor: VisitorChat): boolean {
    return this.present === 'unavailable' && visitor === this.visitor;
  }
}
