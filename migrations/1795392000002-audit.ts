import { MigrationInterface, QueryRunner } from 'typeorm';

/** The audit log: who did what, from where, and what it changed. */
export class Audit1795392000002 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    // actor_name is an operator's, who has no row. before and after hold the changed values alone, and no
    // secret.
    await db.query(`
      CREATE TABLE audit_entries (
        tenant_id  uuid NOT NULL REFERENCES workspaces (id),
        id         uuid NOT NULL,
        action     text NOT NULL,
        entity     text NOT NULL,
        entity_id  text NOT NULL,
        actor_type text NOT NULL,
        actor_id   uuid,
        actor_name text,
        address    text,
        user_agent text,
        request_id text,
        before     jsonb,
        after      jsonb,
        metadata   jsonb NOT NULL DEFAULT '{}',
        created_at timestamptz NOT NULL,
        PRIMARY KEY (tenant_id, id),
        CONSTRAINT audit_entries_actor_check CHECK (
          CASE actor_type
            WHEN 'agent' THEN actor_id IS NOT NULL AND actor_name IS NULL
            WHEN 'api_key' THEN actor_id IS NOT NULL AND actor_name IS NULL
            WHEN 'operator' THEN actor_id IS NULL AND actor_name IS NOT NULL
            WHEN 'system' THEN actor_id IS NULL AND actor_name IS NULL
            ELSE false
          END)
      )`);
    // With any one filter, a page of the log reads no more rows than it shows. An actor is written as in
    // audit.event.
    await db.query('CREATE INDEX audit_entries_action_idx ON audit_entries (tenant_id, action, id)');
    await db.query(`
      CREATE INDEX audit_entries_actor_idx ON audit_entries
        (tenant_id, (coalesce(actor_id::text, actor_type || coalesce(':' || actor_name, ''))), id)`);
    await db.query('CREATE INDEX audit_entries_entity_idx ON audit_entries (tenant_id, entity, id)');
    await db.query('CREATE INDEX audit_entries_entity_id_idx ON audit_entries (tenant_id, entity_id, id)');
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('DROP TABLE audit_entries');
  }
}
