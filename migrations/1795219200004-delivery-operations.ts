import { MigrationInterface, QueryRunner } from 'typeorm';

/** Event order within a conversation, health and rate limit of endpoints, phases of attempts, and recoveries. */
export class DeliveryOperations1795219200004 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(`ALTER TABLE conversations ADD COLUMN event_sequence bigint NOT NULL DEFAULT 0`);
    await db.query(`ALTER TABLE events ADD COLUMN sequence bigint`);
    await db.query(`
      ALTER TABLE webhook_attempts
        ADD COLUMN lookup_ms real,
        ADD COLUMN connect_ms real,
        ADD COLUMN tls_ms real,
        ADD COLUMN first_byte_ms real`);
    await db.query(`
      ALTER TABLE webhook_endpoints
        ADD COLUMN rate_limit integer CHECK (rate_limit > 0),
        ADD COLUMN failing_since timestamptz,
        ADD COLUMN last_success_at timestamptz`);
    // Undelivered rows are rare: a filter by status finds them without reading the delivered ones.
    await db.query(`
      CREATE INDEX webhook_deliveries_undelivered_idx ON webhook_deliveries (tenant_id, endpoint_id, status, id)
      WHERE status IN ('EXHAUSTED', 'CANCELLED')`);
    await db.query(`
      CREATE TABLE webhook_recoveries (
        id          uuid PRIMARY KEY,
        tenant_id   uuid NOT NULL,
        endpoint_id uuid NOT NULL,
        since       timestamptz NOT NULL,
        until       timestamptz NOT NULL,
        status      text NOT NULL CHECK (status IN ('RUNNING', 'COMPLETED', 'CANCELLED')),
        total       integer NOT NULL,
        recovered   integer NOT NULL DEFAULT 0,
        cursor      uuid NOT NULL,
        created_at  timestamptz NOT NULL,
        finished_at timestamptz,
        UNIQUE (tenant_id, id),
        FOREIGN KEY (tenant_id, endpoint_id) REFERENCES webhook_endpoints (tenant_id, id) ON DELETE CASCADE,
        CHECK ((status = 'RUNNING') = (finished_at IS NULL))
      )`);
    await db.query(`
      CREATE UNIQUE INDEX webhook_recoveries_running_key ON webhook_recoveries (endpoint_id) WHERE status = 'RUNNING'`);
    await db.query(
      `CREATE INDEX webhook_recoveries_endpoint_idx ON webhook_recoveries (tenant_id, endpoint_id, id)`,
    );
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('DROP TABLE webhook_recoveries');
    await db.query('DROP INDEX webhook_deliveries_undelivered_idx');
    await db.query(
      'ALTER TABLE webhook_endpoints DROP COLUMN rate_limit, DROP COLUMN failing_since, DROP COLUMN last_success_at',
    );
    await db.query(`
      ALTER TABLE webhook_attempts
        DROP COLUMN lookup_ms, DROP COLUMN connect_ms, DROP COLUMN tls_ms, DROP COLUMN first_byte_ms`);
    await db.query('ALTER TABLE events DROP COLUMN sequence');
    await db.query('ALTER TABLE conversations DROP COLUMN event_sequence');
  }
}
