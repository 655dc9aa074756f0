import { Module } from '@nestjs/common';
import { TableRegistry } from '../database/tables/table-registry';
import { IdempotencyKeysRepository } from './idempotency-keys.repository';
import { IdempotencyService } from './idempotency.service';

@Module({
  providers: [IdempotencyKeysRepository, IdempotencyService],
  exports: [IdempotencyService],
})
export class IdempotencyModule {
  constructor(tables: TableRegistry, keys: IdempotencyKeysRepository) {
    tables.register({
      name: 'idempotency_keys',
      key: { tenant_id: 'uuid', key: 'text' },
      placement: 'workspace',
      deletion: {},
      erasure: { eraseUnlocked: (tx, messages) => keys.erase(tx, messages) },
      export: {
        none: 'A response, which is gone after a day, holds a message, which is exported, or no personal data.',
      },
      retention: { age: 'created_at', keptHours: 24 },
    });
  }
}
