import { InjectQueue, Processor } from '@nestjs/bull';
import type { Queue } from 'bull';
import { type Target } from '../../queue/targets';
import { InjectWakeUps, type WakeUpQueue } from '../../queue/wake-up-queue';
import { WakeUpProcessor } from '../../queue/wake-up.processor';
import { RedisSignals } from '../../redis/redis-signals';
import { DELIVERY_DUE, DELIVERY_QUEUE } from './delivery';
import { DeliveryWorker } from './delivery.worker';

/** Wakes the worker for the endpoint that a job or a signal names. Only PostgreSQL stores the deliveries. */
@Processor(DELIVERY_QUEUE)
export class DeliveryProcessor extends WakeUpProcessor {
  constructor(
    @InjectQueue(DELIVERY_QUEUE) bull: Queue<Target>,
    @InjectWakeUps(DELIVERY_QUEUE) wakeUps: WakeUpQueue,
    worker: DeliveryWorker,
    signals: RedisSignals,
  ) {
    super(bull, wakeUps, worker.runner);
    signals.listen(DELIVERY_DUE, (target) => worker.runner.wake([target]));
  }
}
