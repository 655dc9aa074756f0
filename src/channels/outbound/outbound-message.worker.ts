import { Injectable, Logger } from '@nestjs/common';
import { DatabaseClock } from '../../database/database-clock';
import { Metrics } from '../../metrics/metrics';
import { LeaseWorker } from '../../queue/lease-worker';
import { Slots } from '../../queue/slots';
import { Target } from '../../queue/target';
import { ClaimedMessage } from './claimed-message';
import { OutboundMessageClaimer } from './outbound-message-claimer';
import { OutboundMessageAttempter } from './outbound-message-attempter';
import { OutboundMessagesRepository } from './outbound-messages.repository';
import { SendFollowUp } from './send-follow-up';

/** Slots of this process. */
const MAX_IN_FLIGHT = 500;
/** So that a slow provider does not delay the others. */
const MAX_PER_CONNECTION = 25;

@Injectable()
export class OutboundMessageWorker extends LeaseWorker<ClaimedMessage> {
  private readonly logger = new Logger(OutboundMessageWorker.name);

  constructor(
    private readonly claimer: OutboundMessageClaimer,
    private readonly sender: OutboundMessageAttempter,
    private readonly messages: OutboundMessagesRepository,
    private readonly followUp: SendFollowUp,
    private readonly clock: DatabaseClock,
    private readonly metrics: Metrics,
  ) {
    super(new Slots({ total: MAX_IN_FLIGHT, perTarget: MAX_PER_CONNECTION, slow: 0 }));
  }

  protected override isPaused(connection: Target): boolean {
    return !this.clock.isTrusted || this.claimer.isPaused(connection);
  }

  protected override claim(connection: Target, count: number): Promise<ClaimedMessage[]> {
    return this.claimer.claim(connection, count);
  }

  protected override async process({ id: connectionId }: Target, message: ClaimedMessage): Promise<void> {
    this.metrics.outboundMessagesInFlight.inc();
    try {
      // Nothing has been sent yet, so any worker may claim it.
      if (this.isStopping || performance.now() > message.startBy) await this.messages.release(message);
      else this.followUp.onRecorded(message, await this.sender.send(message));
    } catch (error) {
      // An internal error: the message becomes UNKNOWN when its lease expires.
      const { tenantId, messageId } = message;
      this.logger.error(
        { err: error as Error, tenantId, connectionId, messageId },
        'an outbound message was not processed',
      );
    } finally {
      this.metrics.outboundMessagesInFlight.dec();
    }
  }

  protected override wakeOtherWorkers(connections: Target[]): void {
    this.followUp.wakeOtherWorkers(connections);
  }
}
