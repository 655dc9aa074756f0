import { Injectable, Logger } from '@nestjs/common';
import { Config } from '../../config/config';
import { Metrics } from '../../metrics/metrics';
import { ConcurrencyLimiter } from '../../queue/concurrency-limiter';
import { LeaseWorker } from '../../queue/lease-worker';
import { AttemptFollowUp } from './attempt.follow-up';
import { ClaimedDelivery } from './claimed-delivery';
import { DeliveryAttempter } from './delivery.attempter';
import { DeliveryClaimer } from './delivery.claimer';

/** Serves endpoints in turns: claims what is due to one and starts sending it. */
@Injectable()
export class DeliveryWorker extends LeaseWorker<ClaimedDelivery> {
  private readonly logger = new Logger(DeliveryWorker.name);

  constructor(
    config: Config,
    private readonly claimer: DeliveryClaimer,
    private readonly attempter: DeliveryAttempter,
    private readonly followUp: AttemptFollowUp,
    private readonly metrics: Metrics,
  ) {
    super(new ConcurrencyLimiter(config.webhookConcurrency, config.webhookEndpointConcurrency));
  }

  protected override isPaused(endpointId: string): boolean {
    return this.claimer.isPaused(endpointId);
  }

  protected override claim(endpointId: string, count: number): Promise<ClaimedDelivery[]> {
    return this.claimer.claim(endpointId, count);
  }

  protected override async process(endpointId: string, delivery: ClaimedDelivery): Promise<void> {
    const { id: deliveryId, tenantId } = delivery;
    this.metrics.webhooksUnderWay.inc();
    try {
      await this.followUp.after(await this.attempter.attempt(delivery));
    } catch (error) {
      // Our own fault, not the receiver's: it costs no attempt, and the lease's end brings the delivery back.
      this.logger.error(
        { err: error as Error, tenantId, endpointId, deliveryId },
        'a delivery was not carried through',
      );
    } finally {
      this.metrics.webhooksUnderWay.dec();
    }
  }

  protected override share(endpointIds: string[]): void {
    this.followUp.share(endpointIds);
  }
}
