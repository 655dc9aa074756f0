import { MigrationInterface, QueryRunner } from 'typeorm';
import { createPartitions } from './support/partitions';

const ATTEMPT_COLUMNS = `
        attempted_at     timestamptz,
        duration_ms      integer,
        status_code      smallint,
        error            text,
        error_message    text,
        response_headers text,
        response         bytea,
        lookup_ms        real,
        connect_ms       real,
        tls_ms           real,
        first_byte_ms    real`;

/** Deliveries that endpoints are owed, and the history of deliveries and attempts. */
export class WebhookDeliveries1795392000009 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await this.createQueue(db);
    await this.createHistory(db);
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('DROP TABLE attempt_rollups, webhook_attempts, webhook_deliveries, pending_deliveries');
  }

  private async createQueue(db: QueryRunner): Promise<void> {
    // Deliveries that wait for a slot or a retry. A lease moves next_attempt_at to its end, so that one
    // column is the schedule of everything, and leased rows do not stand in front of those that are due.
    // recovered: the delivery gives way to those of new events. last_status_code and last_error are the last
    // attempt's of this round.
    await db.query(`
      CREATE TABLE pending_deliveries (
        tenant_id        uuid NOT NULL,
        id               uuid NOT NULL,
        endpoint_id      uuid NOT NULL,
        activation       integer NOT NULL,
        event_id         uuid NOT NULL,
        event_type       text NOT NULL,
        round            smallint NOT NULL,
        attempt_count    smallint NOT NULL,
        recovered        boolean NOT NULL,
        next_attempt_at  timestamptz NOT NULL,
        lease_id         uuid,
        last_status_code smallint,
        last_error       text,
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
  }

  private async createHistory(db: QueryRunner): Promise<void> {
    // A row for each finished round of a delivery, with the round's last attempt. response_headers holds a
    // name and a value in each line.
    await db.query(`
      CREATE TABLE webhook_deliveries (
        tenant_id        uuid NOT NULL,
        id               uuid NOT NULL,
        round            smallint NOT NULL,
        endpoint_id      uuid NOT NULL,
        event_id         uuid NOT NULL,
        event_type       text NOT NULL,
        status           text NOT NULL,
        attempt_count    smallint NOT NULL,
        finished_at      timestamptz NOT NULL,${ATTEMPT_COLUMNS},
        PRIMARY KEY (tenant_id, id, round)
      ) PARTITION BY RANGE (id)`);
    await db.query(
      'CREATE INDEX webhook_deliveries_endpoint_idx ON webhook_deliveries (tenant_id, endpoint_id, id)',
    );
    // Failures are rare beside successes: a delivery that succeeds costs no entry in these three, and a
    // filter reads no delivery that succeeded.
    await db.query(`
      CREATE INDEX webhook_deliveries_undelivered_idx ON webhook_deliveries (tenant_id, endpoint_id, status, id)
      WHERE status IN ('EXHAUSTED', 'CANCELLED')`);
    await db.query(`
      CREATE INDEX webhook_deliveries_error_idx ON webhook_deliveries (tenant_id, endpoint_id, error, id)
      WHERE error IS NOT NULL`);
    await db.query(`
      CREATE INDEX webhook_deliveries_status_code_idx
      ON webhook_deliveries (tenant_id, endpoint_id, status_code, id)
      WHERE error IS NOT NULL AND status_code IS NOT NULL`);
    await createPartitions(db, 'webhook_deliveries');
    // A round's attempts before its last one.
    await db.query(`
      CREATE TABLE webhook_attempts (
        tenant_id        uuid NOT NULL,
        delivery_id      uuid NOT NULL,
        round            smallint NOT NULL,
        attempt          smallint NOT NULL,${ATTEMPT_COLUMNS},
        PRIMARY KEY (tenant_id, delivery_id, round, attempt)
      ) PARTITION BY RANGE (delivery_id)`);
    await createPartitions(db, 'webhook_attempts');
    // The attempts of each endpoint in five minutes. outcomes and durations are counts by position; what is
    // counted where stands in src/webhooks/rollups/attempt-counts.ts.
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
}
