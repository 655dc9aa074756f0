import { Injectable, Logger } from '@nestjs/common';
import { Database } from '../../database/database';
import { SecretUnreadable } from '../../secrets/secret-box';
import { InjectStartCapacity, StartCapacity, UNREADABLE_PAUSE_MS } from '../../queue/start-capacity';
import { Target, throughputKeyOf } from '../../queue/targets';
import { InjectWakeUps, WakeUpQueue } from '../../queue/wake-up-queue';
import { FixedWindows } from '../../redis/fixed-windows';
import { ChannelAdapters } from '../adapters/channel-adapters';
import { ConnectionLoader, LoadedConnection } from '../connections/connection-loader';
import { ClaimedMessage } from './claimed-message';
import { OUTBOUND_MESSAGE_QUEUE } from './outbound-message-queue';
import { OutboundMessagesRepository } from './outbound-messages.repository';

/** Claims messages within the rate that their provider allows. */
@Injectable()
export class OutboundMessageClaimer {
  private readonly logger = new Logger(OutboundMessageClaimer.name);

  constructor(
    private readonly database: Database,
    private readonly messages: OutboundMessagesRepository,
    private readonly loader: ConnectionLoader,
    private readonly adapters: ChannelAdapters,
    private readonly windows: FixedWindows,
    @InjectStartCapacity(OUTBOUND_MESSAGE_QUEUE) private readonly capacity: StartCapacity,
    @InjectWakeUps(OUTBOUND_MESSAGE_QUEUE) private readonly wakeUps: WakeUpQueue,
  ) {}

  /** Reports whether a connection has a message that can be claimed now. */
  async hasDue(target: Target): Promise<boolean> {
    const { tenantId } = target;
    return (await this.database.withinNodeShare(tenantId, () => this.messages.countReady(target, 1))) > 0;
  }

  claim(target: Target, count: number): Promise<ClaimedMessage[]> {
    return this.database.withinNodeShare(target.tenantId, () => this.claimReady(target, count));
  }

  private async claimReady(target: Target, count: number): Promise<ClaimedMessage[]> {
    const ready = await this.messages.countReady(target, count);
    const connection = ready > 0 && (await this.load(target));
    if (!connection) return [];
    const granted = await this.acquireRate(connection, ready);
    if (granted === 0) return [];
    const claimed = await this.messages.claim(connection, granted);
    const left = granted - claimed.length;
    if (left > 0) await this.windows.giveBack(throughputKeyOf(target), left);
    return claimed;
  }

  private async load(target: Target): Promise<LoadedConnection | null> {
    const { tenantId, id: connectionId } = target;
    try {
      return await this.loader.load(tenantId, connectionId);
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

  /** Returns how many of the messages may be sent in this second. The others wait for the next second. */
  private async acquireRate({ tenantId, id, channel }: LoadedConnection, wanted: number): Promise<number> {
    const target = { tenantId, id };
    const limit = { windowMs: 1_000, max: this.adapters.getAdapter(channel).limits.perSecond };
    const { granted, endsInMs } = await this.windows.acquire(throughputKeyOf(target), limit, wanted);
    if (granted < wanted) this.pause(target, Math.max(endsInMs, 1));
    return granted;
  }

  private pause(target: Target, delayMs: number): void {
    this.capacity.pause(target, delayMs);
    this.wakeUps.wakeIn(target, delayMs);
  }
}
