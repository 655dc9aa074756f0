import { Injectable, Logger } from '@nestjs/common';
import { SecretUnreadable } from '../../common/secret-box';
import { ThroughputLimiter } from '../../redis/throughput-limiter';
import { ChannelAdapters } from '../adapters/channel-adapters';
import { ConnectionLoader, LoadedConnection } from '../connections/connection.loader';
import { ClaimedMessage } from './claimed-message';
import { OutboundMessageQueue } from './outbound-message.queue';
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

  async claim(connectionId: string, count: number): Promise<ClaimedMessage[]> {
    const ready = await this.messages.countReady(connectionId, count);
    const connection = ready && (await this.load(ready.tenantId, connectionId));
    if (!connection) return [];
    const granted = await this.acquireThroughput(connection, ready.count);
    if (granted === 0) return [];
    const claimed = await this.messages.claim(connection, granted);
    if (claimed.length < granted) await this.throughput.release(connectionId, granted - claimed.length);
    return claimed;
  }

  isPaused(connectionId: string): boolean {
    const until = this.pausedUntil.get(connectionId);
    if (until === undefined) return false;
    if (Date.now() < until) return true;
    this.pausedUntil.delete(connectionId);
    return false;
  }

  private async load(tenantId: string, connectionId: string): Promise<LoadedConnection | null> {
    try {
      return await this.loader.byId(tenantId, connectionId);
    } catch (error) {
      if (!(error instanceof SecretUnreadable)) throw error;
      this.logger.error(
        { err: error, tenantId, connectionId },
        "a connection's credentials can't be decrypted; paused",
      );
      this.pause(connectionId, UNREADABLE_PAUSE_MS);
      return null;
    }
  }

  /** Returns how many of the messages may be sent in this second. The others wait for the next one. */
  private async acquireThroughput({ id, channel }: LoadedConnection, wanted: number): Promise<number> {
    const { perSecond } = this.adapters.of(channel).limits;
    const { granted, remainingMs } = await this.throughput.acquire(id, perSecond, wanted);
    if (granted < wanted) this.pause(id, Math.max(remainingMs, 1));
    return granted;
  }

  private pause(connectionId: string, delayMs: number): void {
    this.pausedUntil.set(connectionId, Date.now() + delayMs);
    this.queue.wakeIn(connectionId, delayMs);
  }
}
