import { InjectQueue } from '@nestjs/bull';
import { Injectable } from '@nestjs/common';
import type { Queue } from 'bull';
import { TurnProcessor } from '../../wake-ups/turn.processor';
import { type WakeUp } from '../../wake-ups/wake-up.queue';
import { DeliveryDispatcher } from './delivery.dispatcher';
import { DELIVERY_QUEUE, DeliveryQueue } from './delivery.queue';
import { DeliveryStore } from './delivery.store';

/** Serves the endpoints that are woken. */
@Injectable()
export class DeliveryProcessor extends TurnProcessor {
  constructor(
    @InjectQueue(DELIVERY_QUEUE) bull: Queue<WakeUp>,
    queue: DeliveryQueue,
    dispatcher: DeliveryDispatcher,
    private readonly store: DeliveryStore,
  ) {
    super(bull, queue, dispatcher);
  }

  protected override hasDue(endpointId: string): Promise<boolean> {
    return this.store.hasDue(endpointId);
  }
}
