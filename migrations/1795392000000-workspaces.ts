import { MigrationInterface, QueryRunner } from 'typeorm';

/** Workspaces (the tenants), their agents, and workspaces that are being deleted. */
export class Workspaces1795392000000 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    // While suspended_at is set, nothing is sent. From resumed_at on, failing endpoints get their five days
    // again. Every message from before messages_erased_until is erased; it is null before the first run.
    await db.query(`
      CREATE TABLE workspaces (
        id                     uuid PRIMARY KEY,
        name                   text NOT NULL,
        slug                   text NOT NULL CONSTRAINT workspaces_slug_key UNIQUE,
        plan_tier              text NOT NULL CHECK (plan_tier IN ('TRIAL', 'STARTER', 'PRO', 'ENTERPRISE')),
        trial_ends_at          timestamptz,
        rate_limit             integer CHECK (rate_limit > 0),
        entitlements           text[] NOT NULL DEFAULT '{}',
        message_retention_days integer CHECK (message_retention_days > 0),
        messages_erased_until  timestamptz,
        suspended_at           timestamptz,
        resumed_at             timestamptz,
        created_at             timestamptz NOT NULL,
        updated_at             timestamptz NOT NULL
      )`);
    // Polls ask for each target whether its workspace is suspended. Few are, so the index stays small.
    await db.query('CREATE INDEX workspaces_suspended_idx ON workspaces (id) WHERE suspended_at IS NOT NULL');
    // display_name is what customers see of an agent's name.
    await db.query(`
      CREATE TABLE agents (
        tenant_id    uuid NOT NULL REFERENCES workspaces (id),
        id           uuid NOT NULL,
        name         text NOT NULL,
        display_name text,
        email        text NOT NULL,
        role         text NOT NULL CHECK (role IN ('OWNER', 'ADMIN', 'AGENT')),
        is_bot       boolean NOT NULL,
        active       boolean NOT NULL,
        created_at   timestamptz NOT NULL,
        updated_at   timestamptz NOT NULL,
        PRIMARY KEY (tenant_id, id)
      )`);
    await db.query('CREATE UNIQUE INDEX agents_email_key ON agents (tenant_id, lower(email))');
    // was_suspended: a cancelled deletion does not resume a workspace that was suspended before. Rows are
    // deleted from started_at on. The cursor is the key of the last row of table_name that was deleted.
    await db.query(`
      CREATE TABLE workspace_deletions (
        tenant_id     uuid PRIMARY KEY REFERENCES workspaces (id),
        requested_at  timestamptz NOT NULL,
        due_at        timestamptz NOT NULL,
        was_suspended boolean NOT NULL,
        started_at    timestamptz,
        table_name    text,
        cursor        text[],
        deleted_rows  bigint NOT NULL DEFAULT 0
      )`);
    await db.query('CREATE INDEX workspace_deletions_due_idx ON workspace_deletions (due_at)');
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('DROP TABLE workspace_deletions, agents, workspaces');
  }
}
