import { MigrationInterface, QueryRunner } from 'typeorm';
import { createIndexConcurrently } from './support/concurrent-index';

/**
 * The index of conversations that were changed after their newest message. Those whose newest message is
 * their latest change are in the indexes by activity: so a message costs nothing more.
 */
export class ChangedConversations1795488100000 implements MigrationInterface {
  readonly transaction = false;

  async up(db: QueryRunner): Promise<void> {
    await createIndexConcurrently(db, {
      name: 'conversations_changed_idx',
      table: 'conversations',
      definition: '(tenant_id, updated_at) WHERE updated_at > coalesce(last_message_at, created_at)',
    });
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('DROP INDEX CONCURRENTLY conversations_changed_idx');
  }
}
