import type { VisitorChat } from './conversation/visitor-chat';
import { statusOf } from './protocol/service-client';

/** Average time after which an unavailable chat is tried again, ±25 % so that pages do not retry together. */
const TRY_AGAIN_MS = 30_000;

/** Records why the service refuses the present visitor, and schedules a new attempt. */
export class Refusals {
  present: 'identity' | 'unavailable' | null = null;
  private visitor: VisitorChat | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly onTime: () => void) {}

  /** Records a refusal. Returns its kind if that differs from the previous kind, otherwise null. */
  note(error: unknown, visitor: VisitorChat): typeof this.present {
    const before = this.present;
    this.present = statusOf(error) === 401 ? 'identity' : 'unavailable';
    this.visitor = visitor;
    clearTimeout(this.timer);
    this.timer = setTimeout(this.onTime, TRY_AGAIN_MS * (0.75 + Math.random() / 2));
    return this.present === before ? null : this.present;
  }

  /** Ends the refusal if the service has accepted another visitor object than the refused one. */
  served(visitor: VisitorChat): void {
    if (visitor !== this.visitor) this.present = null;
  }

  /** Reports whether this visitor was refused last, as `unavailable`, so that it should be tried again. */
  mayHaveEnded(visitor: VisitorChat): boolean {
    return this.present === 'unavailable' && visitor === this.visitor;
  }
}
