import { MigrationInterface, QueryRunner } from 'typeorm';
import { createIndexConcurrently } from './support/concurrent-index';

/** The index that counts the deliveries which have failed and arrived later, rare beside the others. */
export class LateDeliveries1795471200000 implements MigrationInterface {
  readonly transaction = false;

  async up(db: QueryRunner): Promise<void> {
    await createIndexConcurrently(db, {
      name: 'webhook_deliveries_late_idx',
      table: 'webhook_deliveries',
      definition: `(tenant_id, endpoint_id, id) WHERE status = 'SUCCEEDED' AND (attempt_count > 1 OR round > 1)`,
    });
  }

  async down(db: QueryRunner): Promise<void> {
    // A partitioned index can't be dropped concurrently.
    await db.query('DROP INDEX webhook_deliveries_late_idx');
  }
}
