import { MigrationInterface, QueryRunner } from 'typeorm';
import { createIndexConcurrently } from './support/concurrent-index';

/** Failures are rare beside successes, so that a delivery that succeeds costs none of the first two. */
const INDEXES = [
  {
    name: 'webhook_deliveries_error_idx',
    table: 'webhook_deliveries',
    definition: '(tenant_id, endpoint_id, error, id) WHERE error IS NOT NULL',
  },
  {
    name: 'webhook_deliveries_status_code_idx',
    table: 'webhook_deliveries',
    definition:
      '(tenant_id, endpoint_id, status_code, id) WHERE error IS NOT NULL AND status_code IS NOT NULL',
  },
  {
    name: 'events_conversation_idx',
    table: 'events',
    definition: `(tenant_id, (data->>'conversationId'), id) WHERE data->>'conversationId' IS NOT NULL`,
  },
];

/** Deliveries are found by the outcome of their last attempt and by their conversation; the headers of answers. */
export class DeliveryFilters1795305600041 implements MigrationInterface {
  readonly transaction = false;

  async up(db: QueryRunner): Promise<void> {
    // Of the round's last attempt, which is in webhook_attempts.
    await db.query(`
      ALTER TABLE pending_deliveries
        ADD COLUMN IF NOT EXISTS last_status_code smallint,
        ADD COLUMN IF NOT EXISTS last_error text`);
    // Lines of names and values.
    for (const table of ['webhook_deliveries', 'webhook_attempts'])
      await db.query(`ALTER TABLE ${table} ADD COLUMN IF NOT EXISTS response_headers text`);
    for (const index of INDEXES) await createIndexConcurrently(db, index);
  }

  async down(db: QueryRunner): Promise<void> {
    for (const { name } of INDEXES) await db.query(`DROP INDEX IF EXISTS ${name}`);
    for (const table of ['webhook_attempts', 'webhook_deliveries'])
      await db.query(`ALTER TABLE ${table} DROP COLUMN response_headers`);
    await db.query('ALTER TABLE pending_deliveries DROP COLUMN last_error, DROP COLUMN last_status_code');
  }
}
