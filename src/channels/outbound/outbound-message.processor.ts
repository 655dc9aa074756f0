import { InjectQueue, Process, Processor } from '@nestjs/bull';
import type { Job, Queue } from 'bull';
import { CONCURRENT_CLAIMS } from '../../queue/lease-worker';
import { type Target } from '../../queue/target';
import { WakeUpProcessor } from '../../queue/wake-up.processor';
import { OUTBOUND_MESSAGE_QUEUE, OutboundMessageQueue } from './outbound-message-queue';
import { OutboundMessageWorker } from './outbound-message.worker';
import { OutboundMessagesRepository } from './outbound-messages.repository';

/** Sends outbound messages. A job names a connection and nothing else: PostgreSQL holds what is due. */
@Processor(OUTBOUND_MESSAGE_QUEUE)
export class OutboundMessageProcessor extends WakeUpProcessor {
  constructor(
    @InjectQueue(OUTBOUND_MESSAGE_QUEUE) bull: Queue<Target>,
    queue: OutboundMessageQueue,
    worker: OutboundMessageWorker,
    private readonly messages: OutboundMessagesRepository,
  ) {
    super(bull, queue, worker);
  }

  /** Settles when every message that has a slot is claimed and started. */
  @Process({ concurrency: CONCURRENT_CLAIMS })
  send({ data }: Job<Target>): Promise<void> {
    return this.worker.claimAndStart(data);
  }

  protected override async hasDue(connection: Target): Promise<boolean> {
    return (await this.messages.countReady(connection, 1)) > 0;
  }
}
