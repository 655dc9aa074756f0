import { MigrationInterface, QueryRunner } from 'typeorm';

/** Audit entries say from where an action came and what it changed, and name operators. */
export class Audit1795305600005 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    // actor_name is an operator's, who has no row. before and after hold the changed values alone, and no secret.
    await db.query(`
      ALTER TABLE audit_entries
        ADD COLUMN actor_name text,
        ADD COLUMN address    text,
        ADD COLUMN user_agent text,
        ADD COLUMN request_id text,
        ADD COLUMN before     jsonb,
        ADD COLUMN after      jsonb`);
    await db.query(`
      ALTER TABLE audit_entries
        DROP CONSTRAINT audit_entries_actor_type_check,
        DROP CONSTRAINT audit_entries_check`);
    // Checked for rows from now on: those of before obeyed a stricter one.
    await db.query(`
      ALTER TABLE audit_entries
        ADD CONSTRAINT audit_entries_actor_check CHECK (
          CASE actor_type
            WHEN 'agent' THEN actor_id IS NOT NULL AND actor_name IS NULL
            WHEN 'api_key' THEN actor_id IS NOT NULL AND actor_name IS NULL
            WHEN 'operator' THEN actor_id IS NULL AND actor_name IS NOT NULL
            WHEN 'system' THEN actor_id IS NULL AND actor_name IS NULL
            ELSE false
          END) NOT VALID`);
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('ALTER TABLE audit_entries DROP CONSTRAINT audit_entries_actor_check');
    // What the version before can't say.
    await db.query(`UPDATE audit_entries SET actor_type = 'system' WHERE actor_type = 'operator'`);
    await db.query(`
      ALTER TABLE audit_entries
        DROP COLUMN actor_name, DROP COLUMN address, DROP COLUMN user_agent, DROP COLUMN request_id,
        DROP COLUMN before, DROP COLUMN after`);
    await db.query(`
      ALTER TABLE audit_entries
        ADD CONSTRAINT audit_entries_actor_type_check CHECK (actor_type IN ('agent', 'api_key', 'system')),
        ADD CONSTRAINT audit_entries_check CHECK ((actor_type = 'system') = (actor_id IS NULL))`);
  }
}
