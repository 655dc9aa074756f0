import { MigrationInterface, QueryRunner } from 'typeorm';
import { createIndexConcurrently } from './support/concurrent-index';

const SNOOZED = `WHERE status = 'SNOOZED' AND snoozed_until IS NOT NULL`;

/** The moment at which a snoozed conversation opens again by itself. */
export class SnoozeEnds1795482000000 implements MigrationInterface {
  readonly transaction = false;

  async up(db: QueryRunner): Promise<void> {
    await db.query('ALTER TABLE conversations ADD COLUMN IF NOT EXISTS snoozed_until timestamptz');
    // The first finds the workspaces in which a conversation is due, the second one such conversation after
    // the other.
    await createIndexConcurrently(db, {
      name: 'conversations_snooze_schedule_idx',
      table: 'conversations',
      definition: `(snoozed_until, tenant_id) ${SNOOZED}`,
    });
    await createIndexConcurrently(db, {
      name: 'conversations_snoozed_until_idx',
      table: 'conversations',
      definition: `(tenant_id, snoozed_until, id) ${SNOOZED}`,
    });
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('DROP INDEX CONCURRENTLY conversations_snoozed_until_idx');
    await db.query('DROP INDEX CONCURRENTLY conversations_snooze_schedule_idx');
    await db.query('ALTER TABLE conversations DROP COLUMN snoozed_until');
  }
}
