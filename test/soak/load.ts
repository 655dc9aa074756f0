import { Client } from '../chaos/client';
import { Random } from '../chaos/random';
import { Group } from './group';

const TICK_MS = 10;

/** Sends messages at a fixed rate, however late the answers are, to groups by their share. */
export class SteadyLoad {
  private readonly underWay = new Set<Promise<void>>();
  private readonly startedAt = performance.now();
  private readonly timer: NodeJS.Timeout;
  private begun = 0;

  /**
   * Starts to send.
   * @param groups one entry for each share, picked at random
   * @param perSecond messages a second
   */
  constructor(
    private readonly client: Client,
    private readonly groups: readonly Group[],
    private readonly perSecond: number,
    private readonly random: Random,
  ) {
    this.timer = setInterval(() => this.sendDue(), TICK_MS);
  }

  /** Settles when every message that was begun is answered. */
  async stop(): Promise<void> {
    clearInterval(this.timer);
    await Promise.all(this.underWay);
  }

  private sendDue(): void {
    const due = Math.floor(((performance.now() - this.startedAt) / 1000) * this.perSecond);
    for (; this.begun < due; this.begun++) {
      const sending = this.random.pick(this.groups).send(this.client, this.random);
      this.underWay.add(sending);
      void sending.finally(() => this.underWay.delete(sending));
    }
  }
}
