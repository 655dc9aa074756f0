import { MigrationInterface, QueryRunner } from 'typeorm';

/** The outbox of domain events, and the audit log. */
export class Outbox1795219200002 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    // json, not jsonb: receivers get an event's data exactly as written, and no query reads it.
    await db.query(`
      CREATE TABLE events (
        tenant_id  uuid NOT NULL REFERENCES workspaces (id),
        id         uuid NOT NULL,
        type       text NOT NULL,
        data       json NOT NULL,
        created_at timestamptz NOT NULL,
        relayed_at timestamptz,
        PRIMARY KEY (tenant_id, id)
      )`);
    await db.query(`CREATE INDEX events_unrelayed_idx ON events (id) WHERE relayed_at IS NULL`);
    await db.query(`CREATE INDEX events_created_idx ON events USING brin (created_at)`);
    await db.query(`
      CREATE TABLE audit_entries (
        tenant_id  uuid NOT NULL REFERENCES workspaces (id),
        id         uuid NOT NULL,
        action     text NOT NULL,
        entity     text NOT NULL,
        entity_id  text NOT NULL,
        actor_type text NOT NULL CHECK (actor_type IN ('agent', 'api_key', 'system')),
        actor_id   uuid,
        metadata   jsonb NOT NULL DEFAULT '{}',
        created_at timestamptz NOT NULL,
        PRIMARY KEY (tenant_id, id),
        CHECK ((actor_type = 'system') = (actor_id IS NULL))
      )`);
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('DROP TABLE audit_entries, events');
  }
}
