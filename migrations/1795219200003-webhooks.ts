import { MigrationInterface, QueryRunner } from 'typeorm';

/** Webhook endpoints, their deliveries, and every attempt. */
export class Webhooks1795219200003 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      CREATE TABLE webhook_endpoints (
        id                uuid PRIMARY KEY,
        tenant_id         uuid NOT NULL REFERENCES workspaces (id),
        url               text NOT NULL,
        events            text[] NOT NULL,
        secret_key_id     text NOT NULL,
        secret_ciphertext bytea NOT NULL,
        active            boolean NOT NULL,
        created_at        timestamptz NOT NULL,
        updated_at        timestamptz NOT NULL,
        deleted_at        timestamptz,
        UNIQUE (tenant_id, id),
        CHECK (NOT (active AND deleted_at IS NOT NULL))
      )`);
    await db.query(`CREATE INDEX webhook_endpoints_active_idx ON webhook_endpoints (tenant_id) WHERE active`);
    await db.query(`
      CREATE TABLE webhook_deliveries (
        tenant_id       uuid NOT NULL,
        id              uuid NOT NULL,
        endpoint_id     uuid NOT NULL,
        event_id        uuid NOT NULL,
        event_type      text NOT NULL,
        status          text NOT NULL CHECK (status IN ('PENDING', 'SUCCEEDED', 'EXHAUSTED', 'CANCELLED')),
        attempt_count   smallint NOT NULL DEFAULT 0,
        max_attempts    smallint NOT NULL,
        next_attempt_at timestamptz NOT NULL,
        lease_id        uuid,
        lease_until     timestamptz,
        created_at      timestamptz NOT NULL,
        finished_at     timestamptz,
        PRIMARY KEY (tenant_id, id),
        FOREIGN KEY (tenant_id, endpoint_id) REFERENCES webhook_endpoints (tenant_id, id),
        FOREIGN KEY (tenant_id, event_id) REFERENCES events (tenant_id, id),
        CHECK ((status = 'PENDING') = (finished_at IS NULL))
      )`);
    // One delivery of an event to an endpoint, even if the event is relayed twice.
    await db.query(`
      CREATE UNIQUE INDEX webhook_deliveries_event_endpoint_key ON webhook_deliveries (tenant_id, event_id, endpoint_id)`);
    // Pending deliveries by endpoint. Small, because finished deliveries leave it.
    await db.query(`
      CREATE INDEX webhook_deliveries_pending_idx ON webhook_deliveries (endpoint_id, next_attempt_at, id)
      WHERE status = 'PENDING'`);
    await db.query(
      `CREATE INDEX webhook_deliveries_endpoint_idx ON webhook_deliveries (tenant_id, endpoint_id, id)`,
    );
    await db.query(
      `CREATE INDEX webhook_deliveries_created_idx ON webhook_deliveries USING brin (created_at)`,
    );
    await db.query(`
      CREATE TABLE webhook_attempts (
        tenant_id     uuid NOT NULL,
        delivery_id   uuid NOT NULL,
        id            uuid NOT NULL,
        attempted_at  timestamptz NOT NULL,
        duration_ms   integer NOT NULL,
        status_code   smallint,
        error         text,
        error_message text,
        response      bytea,
        PRIMARY KEY (tenant_id, delivery_id, id),
        FOREIGN KEY (tenant_id, delivery_id) REFERENCES webhook_deliveries (tenant_id, id) ON DELETE CASCADE
      )`);
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('DROP TABLE webhook_attempts, webhook_deliveries, webhook_endpoints');
  }
}
