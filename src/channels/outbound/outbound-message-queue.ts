import { BullModule, InjectQueue } from '@nestjs/bull';
import { BeforeApplicationShutdown, Injectable, Module } from '@nestjs/common';
import type { Queue } from 'bull';
import { closeQueue } from '../../queue/close-queue';
import { registerQueue } from '../../queue/register-queue';
import { type Target } from '../../queue/target';
import { WakeUpQueue } from '../../queue/wake-up-queue';

export const OUTBOUND_MESSAGE_QUEUE = 'channel-connections';

@Injectable()
export class OutboundMessageQueue extends WakeUpQueue implements BeforeApplicationShutdown {
  constructor(@InjectQueue(OUTBOUND_MESSAGE_QUEUE) bull: Queue<Target>) {
    super(bull);
  }

  /** For processes without a processor: when Redis is down, @nestjs/bull would wait for it for ever. */
  async beforeApplicationShutdown(): Promise<void> {
    await closeQueue(this.bull, []);
  }
}

/** For workers, and for receipts, which wake connections too. */
@Module({
  imports: [registerQueue(OUTBOUND_MESSAGE_QUEUE)],
  providers: [OutboundMessageQueue],
  exports: [OutboundMessageQueue, BullModule],
})
export class OutboundMessageQueueModule {}
