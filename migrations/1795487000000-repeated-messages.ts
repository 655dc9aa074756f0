import { MigrationInterface, QueryRunner } from 'typeorm';
import { createIndexConcurrently } from './support/concurrent-index';

/** The message that another one repeats, because it was not delivered, or perhaps not. */
export class RepeatedMessages1795487000000 implements MigrationInterface {
  readonly transaction = false;

  async up(db: QueryRunner): Promise<void> {
    await db.query('ALTER TABLE messages ADD COLUMN IF NOT EXISTS repeats_id uuid');
    await createIndexConcurrently(db, {
      name: 'messages_repeats_idx',
      table: 'messages',
      definition: '(tenant_id, conversation_id, repeats_id) WHERE repeats_id IS NOT NULL',
    });
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('DROP INDEX CONCURRENTLY messages_repeats_idx');
    await db.query('ALTER TABLE messages DROP COLUMN repeats_id');
  }
}
