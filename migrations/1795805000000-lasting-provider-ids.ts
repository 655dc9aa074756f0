import { MigrationInterface, QueryRunner } from 'typeorm';
import { createIndexConcurrently } from './support/concurrent-index';

/** Providers' ids that last as long as their message; those of erased messages are still cleaned up. */
export class LastingProviderIds1795805000000 implements MigrationInterface {
  readonly transaction = false;

  async up(db: QueryRunner): Promise<void> {
    await createIndexConcurrently(db, {
      name: 'provider_messages_erased_idx',
      table: 'provider_messages',
      definition: `(created_at) WHERE provider_id LIKE 'erased:%'`,
    });
    await db.query('DROP INDEX CONCURRENTLY IF EXISTS provider_messages_created_idx');
  }

  async down(db: QueryRunner): Promise<void> {
    await createIndexConcurrently(db, {
      name: 'provider_messages_created_idx',
      table: 'provider_messages',
      definition: '(created_at)',
    });
    await db.query('DROP INDEX CONCURRENTLY provider_messages_erased_idx');
  }
}
