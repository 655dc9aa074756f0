import { Module } from '@nestjs/common';
import { DatabaseModule } from '../database/setup/database.module';
import { TableRegistry } from '../database/tables/table-registry';
import { IdempotencyKeyEntity } from './idempotency-key.entity';
import { IdempotencyKeysRepository } from './idempotency-keys.repository';
import { idempotencyTables } from './idempotency-tables';
import { IdempotencyService } from './idempotency.service';

@Module({
  imports: [DatabaseModule.forEntities([IdempotencyKeyEntity])],
  providers: [IdempotencyKeysRepository, IdempotencyService],
  exports: [IdempotencyService],
})
export class IdempotencyModule {
  constructor(tables: TableRegistry, keys: IdempotencyKeysRepository) {
    tables.register(...idempotencyTables(keys));
  }
}
