import { TableDeclaration } from '../database/tables/table-declaration';
import { IdempotencyKeysRepository } from './idempotency-keys.repository';

/** Declares to the registry of stored data how rows of `idempotency_keys` are deleted and erased. */
export function idempotencyTables(keys: IdempotencyKeysRepository): TableDeclaration[] {
  return [
    {
      name: 'idempotency_keys',
      key: { tenant_id: 'uuid', key: 'text' },
      placement: 'workspace',
      deletion: {},
      erasure: { eraseUnlocked: (tx, messages) => keys.erase(tx, messages) },
      export: {
        none: 'A response, which is gone after a day, holds a message, which is exported, or no personal data.',
      },
      retention: { age: 'created_at', keptHours: 24 },
    },
  ];
}
