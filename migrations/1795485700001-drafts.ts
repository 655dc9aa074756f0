import { MigrationInterface, QueryRunner } from 'typeorm';

/** Replies that agents have begun and not sent. */
export class Drafts1795485700001 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      CREATE TABLE drafts (
        tenant_id       uuid NOT NULL,
        agent_id        uuid NOT NULL,
        conversation_id uuid NOT NULL,
        body            text NOT NULL,
        updated_at      timestamptz NOT NULL,
        PRIMARY KEY (tenant_id, agent_id, conversation_id),
        FOREIGN KEY (tenant_id, agent_id) REFERENCES agents (tenant_id, id),
        FOREIGN KEY (tenant_id, conversation_id) REFERENCES conversations (tenant_id, id)
      )`);
    await db.query('CREATE INDEX drafts_conversation_idx ON drafts (tenant_id, conversation_id)');
    await db.query('CREATE INDEX drafts_updated_at_idx ON drafts (updated_at)');
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('DROP TABLE drafts');
  }
}
