import { BullModule } from '@nestjs/bull';
import { Module } from '@nestjs/common';
import { registerQueue } from '../../queue/register-queue';
import { OUTBOUND_MESSAGE_QUEUE, OutboundMessageQueue } from './outbound-message-queue';

/** Provides the queue whose jobs wake the workers of connections, to workers and to what applies receipts. */
@Module({
  imports: [registerQueue(OUTBOUND_MESSAGE_QUEUE)],
  providers: [OutboundMessageQueue],
  exports: [OutboundMessageQueue, BullModule],
})
export class OutboundMessageQueueModule {}
