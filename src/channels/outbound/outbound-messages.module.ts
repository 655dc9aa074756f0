import { Module } from '@nestjs/common';
import { MessageProgress } from './message-progress';
import { OutboundMessagesRepository } from './outbound-messages.repository';

/** Without a queue. */
@Module({
  providers: [MessageProgress, OutboundMessagesRepository],
  exports: [MessageProgress, OutboundMessagesRepository],
})
export class OutboundMessagesModule {}
