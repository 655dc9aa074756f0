import { MigrationInterface, QueryRunner } from 'typeorm';
import { createIndexConcurrently } from './support/concurrent-index';

/**
 * Times at which providers are asked whether they reach a connection. It can be called again after a failure.
 */
export class ReceptionChecks1796014000001 implements MigrationInterface {
  readonly transaction = false;

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      ALTER TABLE channel_connections
        ADD COLUMN IF NOT EXISTS reception_due_at timestamptz NOT NULL DEFAULT now()`);
    await createIndexConcurrently(db, {
      name: 'channel_connections_reception_due_idx',
      table: 'channel_connections',
      definition: `(reception_due_at) WHERE channel = 'TELEGRAM' AND status = 'ACTIVE'`,
    });
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('DROP INDEX CONCURRENTLY channel_connections_reception_due_idx');
    await db.query('ALTER TABLE channel_connections DROP COLUMN reception_due_at');
  }
}
