import { Module } from '@nestjs/common';
import { AttachmentsModule } from '../../attachments/attachments.module';
import { PrivacyModule } from '../../privacy/privacy.module';
import { registerQueue } from '../../queue/register-queue';
import { WorkspacesModule } from '../../workspaces/workspaces.module';
import { HistoryUses } from './history-uses';
import { PartitionKeeper } from './partition-keeper';
import { PartitionWorker } from './partition.worker';
import { RETENTION_QUEUE, RetentionProcessor } from './retention.processor';
import { RetentionService } from './retention.service';

@Module({
  imports: [AttachmentsModule, PrivacyModule, WorkspacesModule, registerQueue(RETENTION_QUEUE)],
  providers: [RetentionService, RetentionProcessor, HistoryUses, PartitionKeeper, PartitionWorker],
  exports: [RetentionService, PartitionKeeper],
})
export class RetentionModule {}
