import { Injectable, Logger } from '@nestjs/common';
import { SecretUnreadable } from '../../secrets/secret-box';
import { Target } from '../../queue/target';
import { ThroughputLimiter } from '../../redis/throughput-limiter';
import { ChannelAdapters } from '../adapters/channel-adapters';
import { ConnectionLoader, LoadedConnection } from '../connections/connection.loader';
import { ClaimedMessage } from './claimed-message';
import { OutboundMessageQueue } from './outbound-message-queue';
import { OutboundMessagesRepository } from './outbound-messages.repository';

/** Until an operator restores the key. */
const UNREADABLE_PAUSE_MS = 60_000;

/** Claims messages within the rate that their provider allows. */
@Injectable()
export class OutboundMessageClaimer {
  private readonly logger = new Logger(OutboundMessageClaimer.name);
  /** By connection, in milliseconds. */
  private readonly pausedUntil = new Map<string, number>();

  constructor(
    private readonly messages: OutboundMessagesRepository,
    private readonly loader: ConnectionLoader,
    private readonly adapters: ChannelAdapters,
    private readonly throughput: ThroughputLimiter,
    private readonly queue: OutboundMessageQueue,
  ) {}

  async claim(target: Target, count: number): Promise<ClaimedMessage[]> {
    const ready = await this.messages.countReady(target, count);
    const connection = ready > 0 && (await this.load(target));
    if (!connection) return [];
    const granted = await this.acquireThroughput(connection, ready);
    if (granted === 0) return [];
    const claimed = await this.messages.claim(connection, granted);
    if (claimed.length < granted) await this.throughput.release(target.id, granted - claimed.length);
    return claimed;
  }

  isPaused({ id }: Target): boolean {
    const until = this.pausedUntil.get(id);
    if (until === undefined) return false;
    if (Date.now() < until) return true;
    this.pausedUntil.delete(id);
    return false;
  }

  private async load(target: Target): Promise<LoadedConnection | null> {
    const { tenantId, id: connectionId } = target;
    try {
      return await this.loader.byId(tenantId, connectionId);
    } catch (error) {
      if (!(error instanceof SecretUnreadable)) throw error;
      this.logger.error(
        { err: error, tenantId, connectionId },
        "a connection's credentials can't be decrypted; paused",
      );
      this.pause(target, UNREADABLE_PAUSE_MS);
      return null;
    }
  }

  /** Returns how many of the messages may be sent in this second. The others wait for the next one. */
  private async acquireThroughput(
    { tenantId, id, channel }: LoadedConnection,
    wanted: number,
  ): Promise<number> {
    const { perSecond } = this.adapters.of(channel).limits;
    const { granted, remainingMs } = await this.throughput.acquire(id, perSecond, wanted);
    if (granted < wanted) this.pause({ tenantId, id }, Math.max(remainingMs, 1));
    return granted;
  }

  private pause(target: Target, delayMs: number): void {
    this.pausedUntil.set(target.id, Date.now() + delayMs);
    this.queue.wakeIn(target, delayMs);
  }
}
