import { BullModule } from '@nestjs/bull';
import { Module } from '@nestjs/common';
import { Config } from '../config/config';
import { queueOptions } from '../queue/queue.options';
import { RETENTION_QUEUE, RetentionProcessor } from './retention.processor';
import { RetentionService } from './retention.service';

@Module({
  imports: [
    BullModule.registerQueueAsync({ name: RETENTION_QUEUE, inject: [Config], useFactory: queueOptions }),
  ],
  providers: [RetentionService, RetentionProcessor],
  exports: [RetentionService],
})
export class RetentionModule {}
