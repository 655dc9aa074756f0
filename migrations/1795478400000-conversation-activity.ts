import { MigrationInterface, QueryRunner } from 'typeorm';
import { createIndexConcurrently } from './support/concurrent-index';

/** The indexes of the lists by latest activity: of a status, and of an agent's or nobody's with a status. */
export class ConversationActivity1795478400000 implements MigrationInterface {
  readonly transaction = false;

  async up(db: QueryRunner): Promise<void> {
    // The newest message's id is as old as the message. A conversation without one is as old as itself.
    await createIndexConcurrently(db, {
      name: 'conversations_activity_idx',
      table: 'conversations',
      definition: '(tenant_id, status, coalesce(last_message_id, id))',
    });
    await createIndexConcurrently(db, {
      name: 'conversations_assigned_activity_idx',
      table: 'conversations',
      definition: '(tenant_id, assigned_agent_id, status, coalesce(last_message_id, id))',
    });
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('DROP INDEX CONCURRENTLY conversations_assigned_activity_idx');
    await db.query('DROP INDEX CONCURRENTLY conversations_activity_idx');
  }
}
