import { Injectable, Logger } from '@nestjs/common';
import { SecretUnreadable } from '../../common/secret-box';
import { ThroughputLimiter } from '../../redis/throughput-limiter';
import { ChannelAdapters } from '../adapters/channel-adapters';
import { ConnectionLoader, LoadedConnection } from '../connections/connection.loader';
import { ClaimedMessage } from './claimed-message';
import { OutboundMessageQueue } from './outbound-message.queue';
import { OutboundMessagesRepository } from './outbound-messages.repository';

/** How long a connection is left alone whose credentials can't be read here: until an operator has put the key back. */
const UNREADABLE_PAUSE_MS = 60_000;

/** Claims messages that may go now, within the rate that their provider allows. */
@Injectable()
export class OutboundMessageClaimer {
  private readonly logger = new Logger(OutboundMessageClaimer.name);
  /** Connections that have used up their rate, or that can't be used, and until when. */
  private readonly pausedUntil = new Map<string, number>();

  constructor(
    private readonly store: OutboundMessagesRepository,
    private readonly loader: ConnectionLoader,
    private readonly adapters: ChannelAdapters,
    private readonly pace: ThroughputLimiter,
    private readonly queue: OutboundMessageQueue,
  ) {}

  /** Up to `count` of a connection's messages, under a lease. */
  async claim(connectionId: string, count: number): Promise<ClaimedMessage[]> {
    const waiting = await this.store.ready(connectionId, count);
    const connection = waiting && (await this.load(waiting.tenantId, connectionId));
    if (!connection) return [];
    const granted = await this.takeThroughput(connection, waiting.ready);
    if (granted === 0) return [];
    const claimed = await this.store.claim(connection, granted);
    if (claimed.length < granted) await this.pace.release(connectionId, granted - claimed.length);
    return claimed;
  }

  /** Whether claiming is vain for now, however much is due. */
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
        "a connection's credentials can't be read; it waits",
      );
      this.pauseFor(connectionId, UNREADABLE_PAUSE_MS);
      return null;
    }
  }

  /** How many may go in this second; the others are called when the next one begins. */
  private async takeThroughput({ id, channel }: LoadedConnection, wanted: number): Promise<number> {
    const { perSecond } = this.adapters.of(channel).limits;
    const { granted, remainingMs } = await this.pace.acquire(id, perSecond, wanted);
    if (granted < wanted) this.pauseFor(id, Math.max(remainingMs, 1));
    return granted;
  }

  private pauseFor(connectionId: string, delayMs: number): void {
    this.pausedUntil.set(connectionId, Date.now() + delayMs);
    this.queue.wakeIn(connectionId, delayMs);
  }
}
