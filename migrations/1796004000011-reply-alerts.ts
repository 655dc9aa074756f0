import { MigrationInterface, QueryRunner } from 'typeorm';
import { createIndexConcurrently } from './support/concurrent-index';

/**
 * Replies that fail one after another over a connection, and replies whose delivery is unknown. It can be
 * called again after a failure.
 */
export class ReplyAlerts1796004000011 implements MigrationInterface {
  readonly transaction = false;

  async up(db: QueryRunner): Promise<void> {
    // failed_replies counts failures since the last reply that arrived, from failed_since on.
    await db.query(`
      ALTER TABLE channel_connections ADD COLUMN IF NOT EXISTS failed_replies smallint NOT NULL DEFAULT 0,
        ADD COLUMN IF NOT EXISTS failed_since timestamptz`);
    // A message that is sent as usual is never in it.
    await createIndexConcurrently(db, {
      name: 'messages_unknown_idx',
      table: 'messages',
      definition: `(id) WHERE delivery_status = 'UNKNOWN' AND dismissed_at IS NULL AND body <> ''`,
    });
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('DROP INDEX CONCURRENTLY messages_unknown_idx');
    await db.query('ALTER TABLE channel_connections DROP COLUMN failed_replies, DROP COLUMN failed_since');
  }
}
