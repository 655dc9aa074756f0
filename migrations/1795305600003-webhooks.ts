import { MigrationInterface, QueryRunner } from 'typeorm';
import { createPartitions } from './support/partitions';

const ATTEMPT_COLUMNS = `
  attempted_at  timestamptz,
  duration_ms   integer,
  status_code   smallint,
  error         text,
  error_message text,
  response      bytea,
  lookup_ms     real,
  connect_ms    real,
  tls_ms        real,
  first_byte_ms real`;

/** Webhook endpoints, the deliveries that they are owed, the history of deliveries and attempts, and recoveries. */
export class Webhooks1795305600003 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    // activation counts activations. activated_at is the database's time of the latest one.
    await db.query(`
      CREATE TABLE webhook_endpoints (
        tenant_id         uuid NOT NULL REFERENCES workspaces (id),
        id                uuid NOT NULL,
        url               text NOT NULL,
        events            text[] NOT NULL,
        secret_key_id     text NOT NULL,
        secret_ciphertext bytea NOT NULL,
        active            boolean NOT NULL,
        activation        integer NOT NULL DEFAULT 1,
        activated_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
        rate_limit        integer CHECK (rate_limit > 0),
        failing_since     timestamptz,
        last_success_at   timestamptz,
        created_at        timestamptz NOT NULL,
        updated_at        timestamptz NOT NULL,
        deleted_at        timestamptz,
        PRIMARY KEY (tenant_id, id),
        CHECK (NOT (active AND deleted_at IS NOT NULL))
      ) WITH (fillfactor = 80)`);
    await db.query(`CREATE INDEX webhook_endpoints_active_idx ON webhook_endpoints (tenant_id) WHERE active`);
    await db.query(`
      CREATE INDEX webhook_endpoints_deleted_idx ON webhook_endpoints (deleted_at) WHERE deleted_at IS NOT NULL`);
    // Deliveries that wait for a slot or a retry. A lease moves next_attempt_at to its end, so that one column is the
    // schedule of everything, and leased rows do not stand in front of those that are due.
    await db.query(`
      CREATE TABLE pending_deliveries (
        tenant_id       uuid NOT NULL,
        id              uuid NOT NULL,
        endpoint_id     uuid NOT NULL,
        activation      integer NOT NULL,
        event_id        uuid NOT NULL,
        event_type      text NOT NULL,
        round           smallint NOT NULL,
        attempt_count   smallint NOT NULL,
        recovered       boolean NOT NULL,
        next_attempt_at timestamptz NOT NULL,
        lease_id        uuid,
        PRIMARY KEY (tenant_id, id)
      ) WITH (autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0,
              autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_threshold = 1000000000)`);
    await db.query(`
      CREATE INDEX pending_deliveries_endpoint_idx
      ON pending_deliveries (tenant_id, endpoint_id, activation, recovered, next_attempt_at, id)`);
    // Retries and leases by their time. First attempts that wait for a slot are not in it.
    await db.query(`
      CREATE INDEX pending_deliveries_scheduled_idx ON pending_deliveries (next_attempt_at)
      WHERE attempt_count > 0 OR lease_id IS NOT NULL`);
    // A row for each finished round of a delivery, with the round's last attempt.
    await db.query(`
      CREATE TABLE webhook_deliveries (
        tenant_id     uuid NOT NULL,
        id            uuid NOT NULL,
        round         smallint NOT NULL,
        endpoint_id   uuid NOT NULL,
        event_id      uuid NOT NULL,
        event_type    text NOT NULL,
        status        text NOT NULL,
        attempt_count smallint NOT NULL,
        finished_at   timestamptz NOT NULL,
        ${ATTEMPT_COLUMNS},
        PRIMARY KEY (tenant_id, id, round)
      ) PARTITION BY RANGE (id)`);
    await db.query(
      `CREATE INDEX webhook_deliveries_endpoint_idx ON webhook_deliveries (tenant_id, endpoint_id, id)`,
    );
    // Undelivered rows are rare: a filter by status finds them without reading the delivered ones.
    await db.query(`
      CREATE INDEX webhook_deliveries_undelivered_idx ON webhook_deliveries (tenant_id, endpoint_id, status, id)
      WHERE status IN ('EXHAUSTED', 'CANCELLED')`);
    await createPartitions(db, 'webhook_deliveries');
    // A round's attempts before its last one.
    await db.query(`
      CREATE TABLE webhook_attempts (
        tenant_id     uuid NOT NULL,
        delivery_id   uuid NOT NULL,
        round         smallint NOT NULL,
        attempt       smallint NOT NULL,
        ${ATTEMPT_COLUMNS},
        PRIMARY KEY (tenant_id, delivery_id, round, attempt)
      ) PARTITION BY RANGE (delivery_id)`);
    await createPartitions(db, 'webhook_attempts');
    // Former activations whose pending deliveries are being cancelled, in steps.
    await db.query(`
      CREATE TABLE pending_cancellations (
        tenant_id   uuid NOT NULL,
        endpoint_id uuid NOT NULL,
        activation  integer NOT NULL,
        cancelled   bigint NOT NULL DEFAULT 0,
        created_at  timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (tenant_id, endpoint_id, activation)
      )`);
    await db.query(`
      CREATE TABLE webhook_recoveries (
        tenant_id   uuid NOT NULL,
        id          uuid NOT NULL,
        endpoint_id uuid NOT NULL,
        since       timestamptz NOT NULL,
        until       timestamptz NOT NULL,
        status      text NOT NULL CHECK (status IN ('RUNNING', 'COMPLETED', 'CANCELLED')),
        total       integer NOT NULL,
        recovered   integer NOT NULL DEFAULT 0,
        cursor      uuid NOT NULL,
        created_at  timestamptz NOT NULL,
        finished_at timestamptz,
        PRIMARY KEY (tenant_id, id),
        FOREIGN KEY (tenant_id, endpoint_id) REFERENCES webhook_endpoints (tenant_id, id) ON DELETE CASCADE,
        CHECK ((status = 'RUNNING') = (finished_at IS NULL))
      )`);
    await db.query(`
      CREATE UNIQUE INDEX webhook_recoveries_running_key ON webhook_recoveries (tenant_id, endpoint_id)
      WHERE status = 'RUNNING'`);
    await db.query(
      `CREATE INDEX webhook_recoveries_endpoint_idx ON webhook_recoveries (tenant_id, endpoint_id, id)`,
    );
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query(`
      DROP TABLE webhook_recoveries, pending_cancellations, webhook_attempts, webhook_deliveries,
        pending_deliveries, webhook_endpoints`);
  }
}
