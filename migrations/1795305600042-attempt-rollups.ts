import { MigrationInterface, QueryRunner } from 'typeorm';

/** The attempts of each endpoint, counted by five minutes. */
export class AttemptRollups1795305600042 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    // outcomes and durations are counts by position: src/webhooks/rollups/attempt-counts.ts says of what.
    await db.query(`
      CREATE TABLE attempt_rollups (
        tenant_id   uuid NOT NULL,
        endpoint_id uuid NOT NULL,
        starts_at   timestamptz NOT NULL,
        outcomes    integer[] NOT NULL,
        durations   integer[] NOT NULL,
        PRIMARY KEY (tenant_id, endpoint_id, starts_at)
      ) WITH (fillfactor = 80)`);
    await db.query('CREATE INDEX attempt_rollups_starts_at_idx ON attempt_rollups (starts_at)');
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('DROP TABLE attempt_rollups');
  }
}
