import { InjectQueue, Process, Processor } from '@nestjs/bull';
import type { Job, Queue } from 'bull';
import { CONCURRENT_CLAIMS } from '../../queue/lease-worker';
import { type Target } from '../../queue/target';
import { WakeUpProcessor } from '../../queue/wake-up.processor';
import { DeliveryWorker } from './delivery.worker';
import { DELIVERY_QUEUE, DeliveryQueue } from './delivery-queue';
import { PendingDeliveriesRepository } from './pending-deliveries.repository';

/**
 * Claims, signs and sends the deliveries that are due. A job names an endpoint and nothing else: PostgreSQL
 * holds the deliveries, their leases and their attempts.
 */
@Processor(DELIVERY_QUEUE)
export class DeliveryProcessor extends WakeUpProcessor {
  constructor(
    @InjectQueue(DELIVERY_QUEUE) bull: Queue<Target>,
    queue: DeliveryQueue,
    worker: DeliveryWorker,
    private readonly deliveries: PendingDeliveriesRepository,
  ) {
    super(bull, queue, worker);
  }

  /** Settles when every delivery that has a slot is claimed and started. */
  @Process({ concurrency: CONCURRENT_CLAIMS })
  claimDue({ data }: Job<Target>): Promise<void> {
    return this.worker.claimAndStart(data);
  }

  protected override hasDue(endpoint: Target): Promise<boolean> {
    return this.deliveries.hasDue(endpoint);
  }
}
