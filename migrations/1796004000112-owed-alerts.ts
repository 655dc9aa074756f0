import { MigrationInterface, QueryRunner } from 'typeorm';
import { createIndexConcurrently } from './support/concurrent-index';

/** Finds the changes of alerts that no worker has collected for mails yet. */
export class OwedAlerts1796004000112 implements MigrationInterface {
  readonly transaction = false;

  async up(db: QueryRunner): Promise<void> {
    await createIndexConcurrently(db, {
      name: 'alerts_owed_idx',
      table: 'alerts',
      definition: '(owed_at) WHERE owed_at IS NOT NULL',
    });
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('DROP INDEX CONCURRENTLY IF EXISTS alerts_owed_idx');
  }
}
