import { backoffMs } from '../protocol/backoff';
import { isFromAgent } from '../protocol/types';
import { isBefore, type Timeline } from './timeline';

const COLLECT_MS = 300;

export type Receipt = { messageId: string; status: 'DELIVERED' | 'READ' };

/**
 * Reports to the service which messages of agents were delivered or read. A report names one message, and
 * also covers all messages before it.
 */
export class Receipts {
  private timer: ReturnType<typeof setTimeout> | undefined;
  private failures = 0;
  private inFlight = false;
  private stopped = false;

  /**
   * @param reportsDelivery returns whether this tab reports, for all tabs, that messages were delivered
   */
  constructor(
    private readonly timeline: Timeline,
    private readonly isSeen: () => boolean,
    private readonly reportsDelivery: () => boolean,
    private readonly post: (receipt: Receipt) => Promise<unknown>,
    private readonly onSent: (receipt: Receipt) => void,
  ) {}

  /** Schedules a report if one is due. Changes within 300 ms are reported with one request. */
  update(): void {
    if (!this.stopped && this.due()) this.timer ??= setTimeout(() => void this.send(), COLLECT_MS);
  }

  stop(): void {
    this.stopped = true;
    clearTimeout(this.timer);
  }

  private due(): Receipt | null {
    const status = this.isSeen() ? 'READ' : this.reportsDelivery() ? 'DELIVERED' : null;
    if (!status) return null;
    const message = this.timeline.messages.findLast(
      (candidate) => isFromAgent(candidate) && isBefore(candidate.delivery.status, status),
    );
    return message ? { messageId: message.id, status } : null;
  }

  private async send(): Promise<void> {
    const receipt = this.due();
    if (receipt && !this.inFlight) {
      this.inFlight = true;
      try {
        await this.post(receipt);
        this.failures = 0;
        this.onSent(receipt);
      } catch {
        // A failed report is repeated after a pause, because the next call of `update` may come much later.
        this.failures += 1;
      }
      this.inFlight = false;
    }
    this.timer = undefined;
    if (this.stopped) return;
    if (this.failures > 0) this.timer = setTimeout(() => void this.send(), backoffMs(this.failures));
    else this.update();
  }
}
