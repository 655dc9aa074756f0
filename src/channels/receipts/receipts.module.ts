import { Module } from '@nestjs/common';
import { OutboundMessageQueueModule } from '../outbound/outbound-message-queue';
import { OutboundMessagesModule } from '../outbound/outbound-messages.module';
import { MessagesModule } from '../../messages/messages.module';
import { ProviderIdsModule } from '../provider-ids/provider-ids.module';
import { ReceiptsRepository } from './receipts.repository';
import { ReceiptsService } from './receipts.service';

@Module({
  imports: [MessagesModule, ProviderIdsModule, OutboundMessagesModule, OutboundMessageQueueModule],
  providers: [ReceiptsService, ReceiptsRepository],
  exports: [ReceiptsService],
})
export class ReceiptsModule {}
