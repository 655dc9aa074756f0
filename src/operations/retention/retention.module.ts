import { Module } from '@nestjs/common';
import { PrivacyModule } from '../../privacy/privacy.module';
import { CHECK_DAILY_WORK_EVERY_MS, registerQueue } from '../../queue/register-queue';
import { WorkspacesModule } from '../../workspaces/workspaces.module';
import { HistoryUses } from './history-uses';
import { PartitionKeeper } from './partition-keeper';
import { PartitionWorker } from './partition.worker';
import { RETENTION_QUEUE, RetentionProcessor } from './retention.processor';
import { RetentionService } from './retention.service';

@Module({
  imports: [PrivacyModule, WorkspacesModule, registerQueue(RETENTION_QUEUE, CHECK_DAILY_WORK_EVERY_MS)],
  providers: [RetentionService, RetentionProcessor, HistoryUses, PartitionKeeper, PartitionWorker],
  exports: [RetentionService, PartitionKeeper],
})
export class RetentionModule {}
