import { InjectQueue } from '@nestjs/bull';
import { BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import type { Queue } from 'bull';
import { closeQueue } from '../../queue/close-queue';
import { type Target } from '../../queue/target';
import { WakeUpQueue } from '../../queue/wake-up-queue';

export const OUTBOUND_MESSAGE_QUEUE = 'channel-connections';

@Injectable()
export class OutboundMessageQueue extends WakeUpQueue implements BeforeApplicationShutdown {
  constructor(@InjectQueue(OUTBOUND_MESSAGE_QUEUE) bull: Queue<Target>) {
    super(bull);
  }

  /**
   * Closes the queue in processes without a processor: when Redis is down, @nestjs/bull would wait for ever.
   */
  async beforeApplicationShutdown(): Promise<void> {
    await closeQueue(this.bull, []);
  }
}
