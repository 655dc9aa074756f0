import { MigrationInterface, QueryRunner } from 'typeorm';

/** The workspaces that demand a second factor of their people. */
export class SecondFactorDemands1795456800000 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      CREATE TABLE second_factor_demands (
        tenant_id   uuid PRIMARY KEY REFERENCES workspaces (id),
        grace_days  integer NOT NULL CHECK (grace_days >= 0),
        demanded_at timestamptz NOT NULL
      )`);
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('DROP TABLE second_factor_demands');
  }
}
