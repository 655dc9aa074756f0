import { MigrationInterface, QueryRunner } from 'typeorm';
import { createIndexConcurrently } from './support/concurrent-index';

/** The index by which a watermark finds the messages that it advances. */
export class UnreadMessages1795435200010 implements MigrationInterface {
  readonly transaction = false;

  async up(db: QueryRunner): Promise<void> {
    await createIndexConcurrently(db, {
      name: 'messages_unread_idx',
      table: 'messages',
      definition: `(tenant_id, conversation_id, delivery_status, id) WHERE delivery_status IN ('SENT', 'DELIVERED')`,
    });
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('DROP INDEX CONCURRENTLY messages_unread_idx');
  }
}
