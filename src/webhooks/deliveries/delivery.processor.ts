import { InjectQueue } from '@nestjs/bull';
import { Injectable } from '@nestjs/common';
import type { Queue } from 'bull';
import { WakeUpProcessor } from '../../queue/wake-up.processor';
import { type WakeUp } from '../../queue/wake-up.queue';
import { DeliveryWorker } from './delivery.worker';
import { DELIVERY_QUEUE, DeliveryQueue } from './delivery.queue';
import { PendingDeliveriesRepository } from './pending-deliveries.repository';

/** Serves the endpoints that are woken. */
@Injectable()
export class DeliveryProcessor extends WakeUpProcessor {
  constructor(
    @InjectQueue(DELIVERY_QUEUE) bull: Queue<WakeUp>,
    queue: DeliveryQueue,
    dispatcher: DeliveryWorker,
    private readonly store: PendingDeliveriesRepository,
  ) {
    super(bull, queue, dispatcher);
  }

  protected override hasDue(endpointId: string): Promise<boolean> {
    return this.store.hasDue(endpointId);
  }
}
