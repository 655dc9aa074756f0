import { MigrationInterface, QueryRunner } from 'typeorm';

/** Texts that the agents of a workspace use again and again. */
export class SavedReplies1795485700002 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      CREATE TABLE saved_replies (
        tenant_id  uuid NOT NULL REFERENCES workspaces (id),
        id         uuid NOT NULL,
        name       text NOT NULL,
        body       text NOT NULL,
        created_at timestamptz NOT NULL,
        updated_at timestamptz NOT NULL,
        PRIMARY KEY (tenant_id, id)
      )`);
    await db.query('CREATE UNIQUE INDEX saved_replies_name_idx ON saved_replies (tenant_id, lower(name))');
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('DROP TABLE saved_replies');
  }
}
