import { Injectable, Logger } from '@nestjs/common';
import { Database } from '../../database/database';
import { SecretUnreadable } from '../../secrets/secret-box';
import { UNREADABLE_PAUSE_MS } from '../../queue/start-capacity';
import { TargetRates } from '../../queue/target-rates';
import { Target } from '../../queue/targets';
import { ChannelAdapters } from '../adapters/channel-adapters';
import { ConnectionLoader, LoadedConnection } from '../connections/connection-loader';
import { ClaimedMessage } from './claimed-message';
import { OutboundMessagesRepository } from './outbound-messages.repository';

/** Claims the messages of a connection within the rate that its provider allows. */
@Injectable()
export class OutboundMessageClaimer {
  private readonly logger = new Logger(OutboundMessageClaimer.name);

  constructor(
    private readonly database: Database,
    private readonly messages: OutboundMessagesRepository,
    private readonly loader: ConnectionLoader,
    private readonly adapters: ChannelAdapters,
    private readonly rates: TargetRates,
  ) {}

  claim(target: Target, count: number): Promise<ClaimedMessage[]> {
    return this.database.placement.forWorkspace(target.tenantId, () => this.claimReady(target, count));
  }

  private async claimReady(target: Target, count: number): Promise<ClaimedMessage[]> {
    const ready = await this.messages.countReady(target, count);
    const connection = ready > 0 && (await this.load(target));
    if (!connection) return [];
    const { perSecond } = this.adapters.getAdapter(connection.channel).limits;
    const granted = await this.rates.acquire(target, perSecond, ready);
    if (granted === 0) return [];
    const claimed = await this.messages.claim(connection, granted);
    await this.rates.giveBack(target, granted - claimed.length);
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
      this.rates.pause(target, UNREADABLE_PAUSE_MS);
      return null;
    }
  }
}
