import { MigrationInterface, QueryRunner } from 'typeorm';

/** Endpoints that are tried by themselves after they have missed events, and get these events again. */
export class AutomaticRecoveries1795903000002 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    // recovers_since: null while the owner has not chosen it; else events from then on are recovered.
    // recovering_id: the only automatic recovery whose deliveries may be sent now.
    await db.query(`
      ALTER TABLE webhook_endpoints ADD COLUMN recovers_since timestamptz, ADD COLUMN recovering_id uuid`);
    // A delivery of an automatic recovery has one attempt.
    await db.query('ALTER TABLE pending_deliveries ADD COLUMN automatic boolean NOT NULL DEFAULT false');
    // automatic: null for a recovery that a person has started.
    await db.query(`
      ALTER TABLE webhook_recoveries ADD COLUMN automatic text, ADD COLUMN failed_in_row integer NOT NULL DEFAULT 0`);
    // A row for each endpoint that has missed events and is not well again. due_at is null while nothing is
    // to be done: a recovery is under way, the endpoint is inactive, or its owner has to act.
    await db.query(`
      CREATE TABLE automatic_recoveries (
        tenant_id     uuid NOT NULL,
        endpoint_id   uuid NOT NULL,
        state         text NOT NULL,
        since         timestamptz NOT NULL,
        misses        integer NOT NULL,
        misses_seen   integer NOT NULL DEFAULT 0,
        rounds        smallint NOT NULL DEFAULT 0,
        probes        smallint NOT NULL DEFAULT 0,
        probing_since timestamptz,
        recovery_id   uuid,
        cursor        uuid,
        stop_reason   text,
        due_at        timestamptz,
        created_at    timestamptz NOT NULL,
        PRIMARY KEY (tenant_id, endpoint_id)
      ) WITH (fillfactor = 80)`);
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('DROP TABLE automatic_recoveries');
    await db.query('ALTER TABLE webhook_recoveries DROP COLUMN automatic, DROP COLUMN failed_in_row');
    await db.query('ALTER TABLE pending_deliveries DROP COLUMN automatic');
    await db.query('ALTER TABLE webhook_endpoints DROP COLUMN recovers_since, DROP COLUMN recovering_id');
  }
}
