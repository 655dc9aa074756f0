import { MigrationInterface, QueryRunner } from 'typeorm';

/** Webhook endpoints, and the cancellation of the deliveries that a deactivated endpoint was owed. */
export class WebhookEndpoints1795392000008 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    // activation counts activations; activated_at is the database's time of the latest one. While there is a
    // previous secret, it signs beside the present one; previous_secret_signs_service: x-service-signature is
    // made with it.
    await db.query(`
      CREATE TABLE webhook_endpoints (
        tenant_id                     uuid NOT NULL REFERENCES workspaces (id),
        id                            uuid NOT NULL,
        url                           text NOT NULL,
        events                        text[] NOT NULL,
        secret_key_id                 text NOT NULL,
        secret_ciphertext             bytea NOT NULL,
        previous_secret_key_id        text,
        previous_secret_ciphertext    bytea,
        previous_secret_ends_at       timestamptz,
        previous_secret_signs_service boolean,
        active                        boolean NOT NULL,
        activation                    integer NOT NULL DEFAULT 1,
        activated_at                  timestamptz NOT NULL DEFAULT clock_timestamp(),
        rate_limit                    integer CHECK (rate_limit > 0),
        failing_since                 timestamptz,
        last_success_at               timestamptz,
        created_at                    timestamptz NOT NULL,
        updated_at                    timestamptz NOT NULL,
        deleted_at                    timestamptz,
        PRIMARY KEY (tenant_id, id),
        CHECK (NOT (active AND deleted_at IS NOT NULL)),
        CONSTRAINT webhook_endpoints_previous_secret_check CHECK (
          num_nonnulls(previous_secret_key_id, previous_secret_ciphertext, previous_secret_ends_at,
                       previous_secret_signs_service) IN (0, 4))
      ) WITH (fillfactor = 80)`);
    await db.query('CREATE INDEX webhook_endpoints_active_idx ON webhook_endpoints (tenant_id) WHERE active');
    await db.query(`
      CREATE INDEX webhook_endpoints_deleted_idx ON webhook_endpoints (deleted_at) WHERE deleted_at IS NOT NULL`);
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
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('DROP TABLE pending_cancellations, webhook_endpoints');
  }
}
