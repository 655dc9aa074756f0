import { MigrationInterface, QueryRunner } from 'typeorm';

/** An endpoint's previous secret, while it signs beside the present one; the networks of API keys. */
export class SecretsAndKeys1795305600008 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    // previous_secret_signs_service: x-service-signature is by the previous secret, as long as there is one.
    await db.query(`
      ALTER TABLE webhook_endpoints
        ADD COLUMN previous_secret_key_id text,
        ADD COLUMN previous_secret_ciphertext bytea,
        ADD COLUMN previous_secret_ends_at timestamptz,
        ADD COLUMN previous_secret_signs_service boolean`);
    await db.query(`
      ALTER TABLE webhook_endpoints ADD CONSTRAINT webhook_endpoints_previous_secret_check CHECK (
        num_nonnulls(previous_secret_key_id, previous_secret_ciphertext, previous_secret_ends_at,
                     previous_secret_signs_service) IN (0, 4))`);
    await db.query('ALTER TABLE api_keys ADD COLUMN allowed_networks text[]');
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('ALTER TABLE api_keys DROP COLUMN allowed_networks');
    await db.query(`
      ALTER TABLE webhook_endpoints
        DROP COLUMN previous_secret_key_id,
        DROP COLUMN previous_secret_ciphertext,
        DROP COLUMN previous_secret_ends_at,
        DROP COLUMN previous_secret_signs_service`);
  }
}
