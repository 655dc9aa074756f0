import { Module } from '@nestjs/common';
import { DatabaseModule } from '../database/database.module';
import { IdempotencyKeyEntity } from './idempotency-key.entity';
import { IdempotencyService } from './idempotency.service';

@Module({
  imports: [DatabaseModule.forEntities([IdempotencyKeyEntity])],
  providers: [IdempotencyService],
  exports: [IdempotencyService],
})
export class IdempotencyModule {}
