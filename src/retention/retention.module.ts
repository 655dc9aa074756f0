import { BullModule } from '@nestjs/bull';
import { Module } from '@nestjs/common';
import { Config } from '../config/config';
import { PrivacyModule } from '../privacy/privacy.module';
import { queueOptions } from '../queue/queue.options';
import { PartitionReferences } from './partition-references';
import { PartitionKeeper } from './partition.keeper';
import { PartitionWorker } from './partition.worker';
import { SuspendedBacklog } from './suspended-backlog';
import { RETENTION_QUEUE, RetentionProcessor } from './retention.processor';
import { RetentionService } from './retention.service';

@Module({
  imports: [
    PrivacyModule,
    BullModule.registerQueueAsync({ name: RETENTION_QUEUE, inject: [Config], useFactory: queueOptions }),
  ],
  providers: [
    RetentionService,
    RetentionProcessor,
    PartitionReferences,
    SuspendedBacklog,
    PartitionKeeper,
    PartitionWorker,
  ],
  exports: [RetentionService, PartitionKeeper],
})
export class RetentionModule {}
