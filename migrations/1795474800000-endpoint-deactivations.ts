import { MigrationInterface, QueryRunner } from 'typeorm';

/** Reason and time of an endpoint's deactivation by the service itself. */
export class EndpointDeactivations1795474800000 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    // Both are null unless the service deactivated the endpoint after failures.
    await db.query(`
      ALTER TABLE webhook_endpoints ADD COLUMN deactivation_reason text, ADD COLUMN deactivated_at timestamptz`);
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query(
      'ALTER TABLE webhook_endpoints DROP COLUMN deactivation_reason, DROP COLUMN deactivated_at',
    );
  }
}
