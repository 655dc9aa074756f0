import { Injectable, Logger } from '@nestjs/common';
import { Config } from '../../config/config';
import { Metrics } from '../../metrics/metrics';
import { ConcurrencyLimiter } from '../../queue/concurrency-limiter';
import { LeaseWorker } from '../../queue/lease-worker';
import { AttemptFollowUp } from './attempt.follow-up';
import { ClaimedDelivery } from './claimed-delivery';
import { DeliveryAttempter } from './delivery.attempter';
import { DeliveryClaimer } from './delivery.claimer';

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
    this.metrics.webhookDeliveriesInFlight.inc();
    try {
      await this.followUp.after(await this.attempter.attempt(delivery));
    } catch (error) {
      // An internal error costs no attempt: the delivery is claimed again when its lease expires.
      this.logger.error(
        { err: error as Error, tenantId, endpointId, deliveryId },
        'a delivery was not processed',
      );
    } finally {
      this.metrics.webhookDeliveriesInFlight.dec();
    }
  }

  protected override wakeOtherWorkers(endpointIds: string[]): void {
    this.followUp.wakeOtherWorkers(endpointIds);
  }
}
