import { MigrationInterface, QueryRunner } from 'typeorm';
import { isDistributed } from './support/distributed-tables';

/** Number of rows whose look-ups one statement makes. */
const STEP = 1_000;
const LOWEST_ID = '00000000-0000-0000-0000-000000000000';

/**
 * Statements that make the look-ups of the rows after the key $1, $2, and return the key of the last one. The
 * lock makes a deletion of a row wait, whose trigger then finds the look-up.
 */
const FILLS = [
  `WITH step AS MATERIALIZED (
     SELECT id, slug FROM workspaces WHERE id > $1 AND $2::uuid IS NOT NULL ORDER BY id LIMIT ${STEP} FOR SHARE
   ), filled AS (
     INSERT INTO workspace_slugs (slug, tenant_id) SELECT slug, id FROM step ON CONFLICT DO NOTHING
   )
   SELECT id AS first, id AS second FROM step ORDER BY id DESC LIMIT 1`,
  `WITH step AS MATERIALIZED (
     SELECT tenant_id, id, hash FROM api_keys WHERE (tenant_id, id) > ($1, $2)
     ORDER BY tenant_id, id LIMIT ${STEP} FOR SHARE
   ), filled AS (
     INSERT INTO api_key_hashes (hash, tenant_id, id) SELECT hash, tenant_id, id FROM step ON CONFLICT DO NOTHING
   )
   SELECT tenant_id AS first, id AS second FROM step ORDER BY tenant_id DESC, id DESC LIMIT 1`,
  `WITH step AS MATERIALIZED (
     SELECT tenant_id, id, channel, external_id, hook_key, status FROM channel_connections
     WHERE (tenant_id, id) > ($1, $2) ORDER BY tenant_id, id LIMIT ${STEP} FOR SHARE
   ), filled AS (
     INSERT INTO hook_keys (hook_key, tenant_id, id)
     SELECT hook_key, tenant_id, id FROM step WHERE status <> 'DISCONNECTED' ON CONFLICT DO NOTHING
   ), filled_accounts AS (
     INSERT INTO connected_accounts (channel, external_id, tenant_id, id)
     SELECT channel, external_id, tenant_id, id FROM step WHERE status <> 'DISCONNECTED' ON CONFLICT DO NOTHING
   )
   SELECT tenant_id AS first, id AS second FROM step ORDER BY tenant_id DESC, id DESC LIMIT 1`,
  `WITH step AS MATERIALIZED (
     SELECT tenant_id, agent_id, person_id FROM memberships WHERE (tenant_id, agent_id) > ($1, $2)
     ORDER BY tenant_id, agent_id LIMIT ${STEP} FOR SHARE
   ), filled AS (
     INSERT INTO person_workspaces (person_id, tenant_id) SELECT person_id, tenant_id FROM step
     ON CONFLICT DO NOTHING
   )
   SELECT tenant_id AS first, agent_id AS second FROM step ORDER BY tenant_id DESC, agent_id DESC LIMIT 1`,
];

/** Bodies of the triggers that keep the look-ups of the rows that processes of an older version write. */
const TRIGGERS: Record<string, { trigger: string; body: string }> = {
  workspaces: {
    trigger: `CREATE OR REPLACE TRIGGER workspaces_look_ups AFTER INSERT OR DELETE ON workspaces
      FOR EACH ROW EXECUTE FUNCTION workspaces_look_ups()`,
    body: `
      IF TG_OP = 'INSERT' THEN
        INSERT INTO workspace_slugs (slug, tenant_id) VALUES (NEW.slug, NEW.id) ON CONFLICT DO NOTHING;
      ELSE
        DELETE FROM workspace_slugs WHERE slug = OLD.slug AND tenant_id = OLD.id;
      END IF;`,
  },
  api_keys: {
    trigger: `CREATE OR REPLACE TRIGGER api_keys_look_ups AFTER INSERT OR DELETE ON api_keys
      FOR EACH ROW EXECUTE FUNCTION api_keys_look_ups()`,
    body: `
      IF TG_OP = 'INSERT' THEN
        INSERT INTO api_key_hashes (hash, tenant_id, id) VALUES (NEW.hash, NEW.tenant_id, NEW.id)
        ON CONFLICT DO NOTHING;
      ELSE
        DELETE FROM api_key_hashes WHERE hash = OLD.hash AND tenant_id = OLD.tenant_id;
      END IF;`,
  },
  channel_connections: {
    trigger: `CREATE OR REPLACE TRIGGER channel_connections_look_ups AFTER INSERT OR DELETE OR UPDATE OF status ON channel_connections
      FOR EACH ROW EXECUTE FUNCTION channel_connections_look_ups()`,
    body: `
      IF TG_OP = 'INSERT' AND NEW.status <> 'DISCONNECTED' THEN
        INSERT INTO hook_keys (hook_key, tenant_id, id) VALUES (NEW.hook_key, NEW.tenant_id, NEW.id)
        ON CONFLICT DO NOTHING;
        INSERT INTO connected_accounts (channel, external_id, tenant_id, id)
        VALUES (NEW.channel, NEW.external_id, NEW.tenant_id, NEW.id) ON CONFLICT DO NOTHING;
      ELSIF TG_OP = 'DELETE' OR NEW.status = 'DISCONNECTED' THEN
        DELETE FROM hook_keys WHERE hook_key = OLD.hook_key AND tenant_id = OLD.tenant_id;
        DELETE FROM connected_accounts
        WHERE channel = OLD.channel AND external_id = OLD.external_id AND tenant_id = OLD.tenant_id
          AND id = OLD.id;
      END IF;`,
  },
  memberships: {
    trigger: `CREATE OR REPLACE TRIGGER memberships_look_ups AFTER INSERT OR DELETE ON memberships
      FOR EACH ROW EXECUTE FUNCTION memberships_look_ups()`,
    body: `
      IF TG_OP = 'INSERT' THEN
        INSERT INTO person_workspaces (person_id, tenant_id) VALUES (NEW.person_id, NEW.tenant_id)
        ON CONFLICT DO NOTHING;
      ELSE
        DELETE FROM person_workspaces WHERE person_id = OLD.person_id AND tenant_id = OLD.tenant_id;
      END IF;`,
  },
};

/**
 * The look-ups: tables that tell the workspace of what a request brings without it. A look-up's row is never
 * changed. Its value is unique there, so that the tables with the rows can be divided by their workspaces.
 */
export class LookUps1795486100000 implements MigrationInterface {
  readonly transaction = false;

  async up(db: QueryRunner): Promise<void> {
    await this.createTables(db);
    // Rows that are added from now on have their look-ups. The others get theirs after that.
    await this.createTriggers(db);
    for (const step of FILLS) await this.fill(db, step);
  }

  async down(db: QueryRunner): Promise<void> {
    if (await isDistributed(db, 'workspaces'))
      throw new Error(
        'The tables are distributed over nodes, which need the look-ups: they can’t be taken back',
      );
    for (const table of Object.keys(TRIGGERS)) {
      await db.query(`DROP TRIGGER IF EXISTS ${table}_look_ups ON ${table}`);
      await db.query(`DROP FUNCTION IF EXISTS ${table}_look_ups()`);
    }
    await db.query(
      `DROP TABLE IF EXISTS workspace_slugs, api_key_hashes, hook_keys, connected_accounts, person_workspaces`,
    );
  }

  private async createTables(db: QueryRunner): Promise<void> {
    await db.query(`
      CREATE TABLE IF NOT EXISTS workspace_slugs (
        slug      text PRIMARY KEY,
        tenant_id uuid NOT NULL
      )`);
    await db.query(`
      CREATE TABLE IF NOT EXISTS api_key_hashes (
        hash      bytea PRIMARY KEY,
        tenant_id uuid NOT NULL,
        id        uuid NOT NULL
      )`);
    // Of connections that are not disconnected alone: an account may be connected again elsewhere.
    await db.query(`
      CREATE TABLE IF NOT EXISTS hook_keys (
        hook_key  text PRIMARY KEY,
        tenant_id uuid NOT NULL,
        id        uuid NOT NULL
      )`);
    await db.query(`
      CREATE TABLE IF NOT EXISTS connected_accounts (
        channel     text NOT NULL,
        external_id text NOT NULL,
        tenant_id   uuid NOT NULL,
        id          uuid NOT NULL,
        PRIMARY KEY (channel, external_id)
      )`);
    await db.query(`
      CREATE TABLE IF NOT EXISTS person_workspaces (
        person_id uuid NOT NULL REFERENCES people (id),
        tenant_id uuid NOT NULL,
        PRIMARY KEY (person_id, tenant_id)
      )`);
    // The deletion of a workspace finds its rows by it. That of workspace_slugs has the slug.
    for (const table of ['api_key_hashes', 'hook_keys', 'connected_accounts', 'person_workspaces'])
      await db.query(`CREATE INDEX IF NOT EXISTS ${table}_tenant_id_idx ON ${table} (tenant_id)`);
  }

  /**
   * Makes triggers for processes of an older version. They change nothing for a process that keeps the
   * look-ups itself. A later version drops them. They run with the rights of the owner, because the service's
   * role gets its privileges after all migrations.
   */
  private async createTriggers(db: QueryRunner): Promise<void> {
    const [{ schema }] = (await db.query('SELECT quote_ident(current_schema()) AS schema')) as [
      { schema: string },
    ];
    for (const [table, { trigger, body }] of Object.entries(TRIGGERS)) {
      await db.query(`
        CREATE OR REPLACE FUNCTION ${table}_look_ups() RETURNS trigger
        LANGUAGE plpgsql SECURITY DEFINER SET search_path = ${schema}, pg_temp AS $$
        BEGIN ${body}
          RETURN NULL;
        END $$`);
      await db.query(`REVOKE ALL ON FUNCTION ${table}_look_ups() FROM PUBLIC`);
      await db.query(trigger);
    }
  }

  private async fill(db: QueryRunner, step: string): Promise<void> {
    for (let after: [string, string] | null = [LOWEST_ID, LOWEST_ID]; after;) {
      const [last] = (await db.query(step, after)) as { first: string; second: string }[];
      after = last ? [last.first, last.second] : null;
    }
  }
}
