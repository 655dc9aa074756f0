import { InjectQueue } from '@nestjs/bull';
import { Injectable } from '@nestjs/common';
import type { Queue } from 'bull';
import { WakeUpProcessor } from '../../queue/wake-up.processor';
import { type WakeUp } from '../../queue/wake-up.queue';
import { OutboundMessageWorker } from './outbound-message.worker';
import { OUTBOUND_MESSAGE_QUEUE, OutboundMessageQueue } from './outbound-message.queue';
import { OutboundMessagesRepository } from './outbound-messages.repository';

/** Serves the connections that are woken. */
@Injectable()
export class OutboundMessageProcessor extends WakeUpProcessor {
  constructor(
    @InjectQueue(OUTBOUND_MESSAGE_QUEUE) bull: Queue<WakeUp>,
    queue: OutboundMessageQueue,
    dispatcher: OutboundMessageWorker,
    private readonly store: OutboundMessagesRepository,
  ) {
    super(bull, queue, dispatcher);
  }

  protected override async hasDue(connectionId: string): Promise<boolean> {
    return (await this.store.ready(connectionId, 1)) !== null;
  }
}
