import { MigrationInterface, QueryRunner } from 'typeorm';

/** Recoveries that deliver again what a filter matches, and who started a recovery. */
export class Redeliveries1795305600043 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    // With a filter the cursor falls from the newest delivery to the oldest; without one it rises from event to event.
    await db.query(`
      ALTER TABLE webhook_recoveries
        ALTER COLUMN since DROP NOT NULL,
        ADD COLUMN filter jsonb,
        ADD COLUMN is_total_complete boolean NOT NULL DEFAULT true,
        ADD COLUMN started_by text`);
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('DELETE FROM webhook_recoveries WHERE filter IS NOT NULL');
    await db.query(`
      ALTER TABLE webhook_recoveries
        DROP COLUMN started_by,
        DROP COLUMN is_total_complete,
        DROP COLUMN filter,
        ALTER COLUMN since SET NOT NULL`);
  }
}
