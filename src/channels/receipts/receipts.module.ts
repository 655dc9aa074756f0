import { Module } from '@nestjs/common';
import { DispatchQueueModule } from '../outbound/dispatch.queue';
import { DispatchStore } from '../outbound/dispatch.store';
import { MessageProgress } from './message-progress';
import { ReceiptsService } from './receipts.service';
import { ReceiptsStore } from './receipts.store';

/** What providers tell afterwards, for whoever hears of it. */
@Module({
  imports: [DispatchQueueModule],
  providers: [DispatchStore, MessageProgress, ReceiptsService, ReceiptsStore],
  exports: [ReceiptsService],
})
export class ReceiptsModule {}
