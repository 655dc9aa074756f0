import { MigrationInterface, QueryRunner } from 'typeorm';
import { createIndexConcurrently } from './support/concurrent-index';

/** Finds the pending deliveries of a recovery. A delivery that no recovery made has no entry. */
export class DeliveriesOfRecoveries1795802000001 implements MigrationInterface {
  readonly transaction = false;

  async up(db: QueryRunner): Promise<void> {
    await createIndexConcurrently(db, {
      name: 'pending_deliveries_recovery_idx',
      table: 'pending_deliveries',
      definition: '(tenant_id, recovery_id) WHERE recovery_id IS NOT NULL',
    });
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('DROP INDEX pending_deliveries_recovery_idx');
  }
}
