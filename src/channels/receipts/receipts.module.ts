import { Module } from '@nestjs/common';
import { OutboundMessageQueueModule } from '../outbound/outbound-message.queue';
import { OutboundMessagesRepository } from '../outbound/outbound-messages.repository';
import { MessageProgress } from './message-progress';
import { ReceiptsService } from './receipts.service';
import { ReceiptsRepository } from './receipts.repository';

/** What providers tell afterwards, for whoever hears of it. */
@Module({
  imports: [OutboundMessageQueueModule],
  providers: [OutboundMessagesRepository, MessageProgress, ReceiptsService, ReceiptsRepository],
  exports: [ReceiptsService],
})
export class ReceiptsModule {}
