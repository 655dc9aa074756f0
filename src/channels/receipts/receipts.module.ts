import { Module } from '@nestjs/common';
import { OutboundMessageQueueModule } from '../outbound/outbound-message-queue';
import { OutboundMessagesModule } from '../outbound/outbound-messages.module';
import { ReceiptsRepository } from './receipts.repository';
import { ReceiptsService } from './receipts.service';

@Module({
  imports: [OutboundMessagesModule, OutboundMessageQueueModule],
  providers: [ReceiptsService, ReceiptsRepository],
  exports: [ReceiptsService],
})
export class ReceiptsModule {}
