import { MigrationInterface, QueryRunner } from 'typeorm';

/** Notes that agents write to each other in a conversation. */
export class Notes1795485700000 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      CREATE TABLE notes (
        tenant_id       uuid NOT NULL,
        id              uuid NOT NULL,
        conversation_id uuid NOT NULL,
        author_agent_id uuid NOT NULL,
        body            text NOT NULL,
        created_at      timestamptz NOT NULL,
        PRIMARY KEY (tenant_id, id),
        FOREIGN KEY (tenant_id, conversation_id) REFERENCES conversations (tenant_id, id),
        FOREIGN KEY (tenant_id, author_agent_id) REFERENCES agents (tenant_id, id)
      )`);
    await db.query('CREATE INDEX notes_conversation_idx ON notes (tenant_id, conversation_id, id)');
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('DROP TABLE notes');
  }
}
