import { InjectQueue, Processor } from '@nestjs/bull';
import type { Queue } from 'bull';
import { type Target } from '../../queue/targets';
import { InjectWakeUps, type WakeUpQueue } from '../../queue/wake-up-queue';
import { WakeUpProcessor } from '../../queue/wake-up.processor';
import { OUTBOUND_MESSAGE_QUEUE } from './outbound-message-queue';
import { OutboundMessageWorker } from './outbound-message.worker';

/** Sends the due messages of the connections that Bull jobs name. */
@Processor(OUTBOUND_MESSAGE_QUEUE)
export class OutboundMessageProcessor extends WakeUpProcessor {
  constructor(
    @InjectQueue(OUTBOUND_MESSAGE_QUEUE) bull: Queue<Target>,
    @InjectWakeUps(OUTBOUND_MESSAGE_QUEUE) wakeUps: WakeUpQueue,
    worker: OutboundMessageWorker,
  ) {
    super(bull, wakeUps, worker.runner);
  }
}
