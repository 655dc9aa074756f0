import { MigrationInterface, QueryRunner } from 'typeorm';

/** Keys to the REST API. Only a key's SHA-256 is stored, with a few characters to recognize it by. */
export class ApiKeys1795392000001 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    // A request brings the key alone, so the hash is unique over all workspaces. created_by is an agent.
    await db.query(`
      CREATE TABLE api_keys (
        tenant_id        uuid NOT NULL REFERENCES workspaces (id),
        id               uuid NOT NULL,
        name             text NOT NULL,
        hash             bytea NOT NULL CONSTRAINT api_keys_hash_key UNIQUE,
        first_chars      text NOT NULL,
        last_chars       text NOT NULL,
        scopes           text[] NOT NULL,
        allowed_networks text[],
        created_by       uuid,
        created_at       timestamptz NOT NULL,
        last_used_at     timestamptz,
        expires_at       timestamptz,
        revoked_at       timestamptz,
        PRIMARY KEY (tenant_id, id),
        FOREIGN KEY (tenant_id, created_by) REFERENCES agents (tenant_id, id)
      )`);
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('DROP TABLE api_keys');
  }
}
