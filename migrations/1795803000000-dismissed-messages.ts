import { MigrationInterface, QueryRunner } from 'typeorm';
import { createIndexConcurrently } from './support/concurrent-index';

/** The messages that were not delivered, or perhaps not, and that nobody has dealt with. */
export class DismissedMessages1795803000000 implements MigrationInterface {
  readonly transaction = false;

  async up(db: QueryRunner): Promise<void> {
    await db.query('ALTER TABLE messages ADD COLUMN IF NOT EXISTS dismissed_at timestamptz');
    await createIndexConcurrently(db, {
      name: 'messages_lost_idx',
      table: 'messages',
      definition: `(tenant_id, conversation_id, id)
        WHERE delivery_status IN ('FAILED', 'UNKNOWN') AND dismissed_at IS NULL AND body <> ''`,
    });
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('DROP INDEX CONCURRENTLY messages_lost_idx');
    await db.query('ALTER TABLE messages DROP COLUMN dismissed_at');
  }
}
