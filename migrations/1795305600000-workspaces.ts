import { MigrationInterface, QueryRunner } from 'typeorm';

/** Workspaces (the tenants), their agents and their API keys. */
export class Workspaces1795305600000 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      CREATE TABLE workspaces (
        id            uuid PRIMARY KEY,
        name          text NOT NULL,
        slug          text NOT NULL CONSTRAINT workspaces_slug_key UNIQUE,
        plan_tier     text NOT NULL CHECK (plan_tier IN ('TRIAL', 'STARTER', 'PRO', 'ENTERPRISE')),
        trial_ends_at timestamptz,
        rate_limit    integer CHECK (rate_limit > 0),
        entitlements  text[] NOT NULL DEFAULT '{}',
        created_at    timestamptz NOT NULL,
        updated_at    timestamptz NOT NULL
      )`);
    await db.query(`
      CREATE TABLE agents (
        id         uuid PRIMARY KEY,
        tenant_id  uuid NOT NULL REFERENCES workspaces (id),
        name       text NOT NULL,
        email      text NOT NULL,
        role       text NOT NULL CHECK (role IN ('OWNER', 'ADMIN', 'AGENT')),
        is_bot     boolean NOT NULL,
        active     boolean NOT NULL,
        created_at timestamptz NOT NULL,
        updated_at timestamptz NOT NULL,
        UNIQUE (tenant_id, id)
      )`);
    await db.query(`CREATE UNIQUE INDEX agents_email_key ON agents (tenant_id, lower(email))`);
    await db.query(`
      CREATE TABLE api_keys (
        id           uuid PRIMARY KEY,
        tenant_id    uuid NOT NULL REFERENCES workspaces (id),
        name         text NOT NULL,
        hash         bytea NOT NULL CONSTRAINT api_keys_hash_key UNIQUE,
        first_chars  text NOT NULL,
        last_chars   text NOT NULL,
        scopes       text[] NOT NULL,
        created_by   uuid,
        created_at   timestamptz NOT NULL,
        last_used_at timestamptz,
        expires_at   timestamptz,
        revoked_at   timestamptz,
        UNIQUE (tenant_id, id),
        FOREIGN KEY (tenant_id, created_by) REFERENCES agents (tenant_id, id)
      )`);
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('DROP TABLE api_keys, agents, workspaces');
  }
}
