import { Injectable, Logger } from '@nestjs/common';
import { Metrics } from '../../metrics/metrics';
import { ConcurrencyLimiter } from '../../queue/concurrency-limiter';
import { LeaseWorker } from '../../queue/lease-worker';
import { ClaimedMessage } from './claimed-message';
import { OutboundMessageClaimer } from './outbound-message.claimer';
import { SendFollowUp } from './send-follow-up';
import { OutboundMessageSender } from './outbound-message.sender';
import { OutboundMessagesRepository } from './outbound-messages.repository';

/** Messages under way at once in this process, and over one connection: no slow provider holds up the others. */
const MAX_UNDER_WAY = 500;
const MAX_PER_CONNECTION = 25;

/** Serves one connection for a turn: claims messages, and starts sending them side by side. */
@Injectable()
export class OutboundMessageWorker extends LeaseWorker<ClaimedMessage> {
  private readonly logger = new Logger(OutboundMessageWorker.name);

  constructor(
    private readonly claimer: OutboundMessageClaimer,
    private readonly sender: OutboundMessageSender,
    private readonly store: OutboundMessagesRepository,
    private readonly followUp: SendFollowUp,
    private readonly metrics: Metrics,
  ) {
    super(new ConcurrencyLimiter(MAX_UNDER_WAY, MAX_PER_CONNECTION));
  }

  protected override isPaused(connectionId: string): boolean {
    return this.claimer.isPaused(connectionId);
  }

  protected override claim(connectionId: string, count: number): Promise<ClaimedMessage[]> {
    return this.claimer.claim(connectionId, count);
  }

  protected override async process(connectionId: string, dispatch: ClaimedMessage): Promise<void> {
    this.metrics.outboundMessagesInFlight.inc();
    try {
      // No request has been made for it, and none will be: whoever claims it next may.
      if (this.isStopping) await this.store.giveBack(dispatch);
      else this.followUp.after(dispatch, await this.sender.send(dispatch));
    } catch (error) {
      // Our own fault, not the provider's: with the lease's end the message is UNKNOWN.
      const { tenantId, messageId } = dispatch;
      this.logger.error(
        { err: error as Error, tenantId, connectionId, messageId },
        'a message was not carried through',
      );
    } finally {
      this.metrics.outboundMessagesInFlight.dec();
    }
  }

  protected override wakeOtherWorkers(connectionIds: string[]): void {
    this.followUp.share(connectionIds);
  }
}
