import { MigrationInterface, QueryRunner } from 'typeorm';

/** Recoveries: events that endpoints missed are delivered again. */
export class WebhookRecoveries1795392000010 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    // Without a filter, the cursor rises from event to event, beginning at since. With one, it falls from the
    // newest delivery to the oldest, and since may be null. recovered counts deliveries.
    await db.query(`
      CREATE TABLE webhook_recoveries (
        tenant_id         uuid NOT NULL,
        id                uuid NOT NULL,
        endpoint_id       uuid NOT NULL,
        filter            jsonb,
        since             timestamptz,
        until             timestamptz NOT NULL,
        status            text NOT NULL CHECK (status IN ('RUNNING', 'COMPLETED', 'CANCELLED')),
        total             integer NOT NULL,
        is_total_complete boolean NOT NULL DEFAULT true,
        recovered         integer NOT NULL DEFAULT 0,
        cursor            uuid NOT NULL,
        started_by        text,
        created_at        timestamptz NOT NULL,
        finished_at       timestamptz,
        PRIMARY KEY (tenant_id, id),
        FOREIGN KEY (tenant_id, endpoint_id) REFERENCES webhook_endpoints (tenant_id, id) ON DELETE CASCADE,
        CHECK ((status = 'RUNNING') = (finished_at IS NULL))
      )`);
    await db.query(`
      CREATE UNIQUE INDEX webhook_recoveries_running_key ON webhook_recoveries (tenant_id, endpoint_id)
      WHERE status = 'RUNNING'`);
    await db.query(
      'CREATE INDEX webhook_recoveries_endpoint_idx ON webhook_recoveries (tenant_id, endpoint_id, id)',
    );
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('DROP TABLE webhook_recoveries');
  }
}
