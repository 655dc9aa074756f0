import { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Actor who rolled an endpoint's secret last: a type, with the id of an agent or key. Null for a secret that
 * is the first one, or that was rolled before.
 */
export class SecretRollers1795806000000 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(`ALTER TABLE webhook_endpoints
      ADD COLUMN secret_rolled_by_type text, ADD COLUMN secret_rolled_by_id uuid`);
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query(`ALTER TABLE webhook_endpoints
      DROP COLUMN secret_rolled_by_type, DROP COLUMN secret_rolled_by_id`);
  }
}
