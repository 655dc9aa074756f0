import { MigrationInterface, QueryRunner } from 'typeorm';

/** Counts of deliveries beside those of attempts, for charts of a whole workspace. */
export class RoundsInRollups1795474800001 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    // late: deliveries that succeeded after a failure, which are among the successful attempts. exhausted:
    // rounds that were given up.
    await db.query(`
      ALTER TABLE attempt_rollups ADD COLUMN late integer NOT NULL DEFAULT 0,
        ADD COLUMN exhausted integer NOT NULL DEFAULT 0`);
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('ALTER TABLE attempt_rollups DROP COLUMN late, DROP COLUMN exhausted');
  }
}
