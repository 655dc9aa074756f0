import { MigrationInterface, QueryRunner } from 'typeorm';

/** Ends of the deliveries that recoveries have made, so that a recovery says what became of them. */
export class RecoveryOutcomes1795802000000 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    // Null for a delivery that no recovery made.
    await db.query('ALTER TABLE pending_deliveries ADD COLUMN recovery_id uuid');
    // Rows are only added, so that no writer waits for another, and go when they are added to their recovery.
    await db.query(`
      CREATE TABLE recovery_outcomes (
        tenant_id   uuid NOT NULL,
        recovery_id uuid NOT NULL,
        id          uuid NOT NULL,
        succeeded   integer NOT NULL,
        exhausted   integer NOT NULL,
        cancelled   integer NOT NULL,
        PRIMARY KEY (tenant_id, recovery_id, id)
      )`);
    // is_settled: no delivery of the recovery is pending, or will be. The counts are null for a recovery that
    // an earlier version has started.
    await db.query(`
      ALTER TABLE webhook_recoveries
        ADD COLUMN succeeded integer, ADD COLUMN exhausted integer, ADD COLUMN cancelled integer,
        ADD COLUMN is_settled boolean NOT NULL DEFAULT true`);
    await db.query('ALTER TABLE webhook_recoveries ALTER COLUMN is_settled SET DEFAULT false');
    await db.query(`UPDATE webhook_recoveries SET is_settled = false WHERE status = 'RUNNING'`);
    await db.query(
      'CREATE INDEX webhook_recoveries_unsettled_idx ON webhook_recoveries (id) WHERE NOT is_settled',
    );
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query(`ALTER TABLE webhook_recoveries
      DROP COLUMN succeeded, DROP COLUMN exhausted, DROP COLUMN cancelled, DROP COLUMN is_settled`);
    await db.query('DROP TABLE recovery_outcomes');
    await db.query('ALTER TABLE pending_deliveries DROP COLUMN recovery_id');
  }
}
