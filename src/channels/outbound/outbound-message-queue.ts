import { BullModule } from '@nestjs/bull';
import { Module } from '@nestjs/common';
import { registerQueue } from '../../queue/register-queue';
import { provideWakeUps, wakeUpsOf } from '../../queue/wake-up-queue';

export const OUTBOUND_MESSAGE_QUEUE = 'channel-connections';

/** Provides the Bull queue whose jobs wake the workers that send outbound messages. */
@Module({
  imports: [registerQueue(OUTBOUND_MESSAGE_QUEUE)],
  providers: [provideWakeUps(OUTBOUND_MESSAGE_QUEUE)],
  exports: [wakeUpsOf(OUTBOUND_MESSAGE_QUEUE), BullModule],
})
export class OutboundMessageQueueModule {}
