import { BullModule, InjectQueue } from '@nestjs/bull';
import { BeforeApplicationShutdown, Injectable, Module } from '@nestjs/common';
import type { Queue } from 'bull';
import { Config } from '../../config/config';
import { closeQueue } from '../../redis/close-queue';
import { queueOptions } from '../../redis/queue.options';
import { type WakeUp, WakeUpQueue } from '../../wake-ups/wake-up.queue';

export const DISPATCH_QUEUE = 'channel-connections';

/** Wakes connections. */
@Injectable()
export class DispatchQueue extends WakeUpQueue implements BeforeApplicationShutdown {
  constructor(@InjectQueue(DISPATCH_QUEUE) bull: Queue<WakeUp>) {
    super(bull);
  }

  /** Also where nothing is processed: Nest's own way of closing would wait for Redis without end. */
  async beforeApplicationShutdown(): Promise<void> {
    await closeQueue(this.bull, []);
  }
}

/** For whoever has something to wake connections for: the worker, and the receivers of receipts. */
@Module({
  imports: [
    BullModule.registerQueueAsync({ name: DISPATCH_QUEUE, inject: [Config], useFactory: queueOptions }),
  ],
  providers: [DispatchQueue],
  exports: [DispatchQueue, BullModule],
})
export class DispatchQueueModule {}
