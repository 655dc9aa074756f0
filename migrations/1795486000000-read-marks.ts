import { MigrationInterface, QueryRunner } from 'typeorm';

/** Read marks: how far each agent has read in each conversation. */
export class ReadMarks1795486000000 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      CREATE TABLE read_marks (
        tenant_id       uuid NOT NULL,
        agent_id        uuid NOT NULL,
        conversation_id uuid NOT NULL,
        message_id      uuid NOT NULL,
        is_unread       boolean NOT NULL,
        PRIMARY KEY (tenant_id, agent_id, conversation_id),
        FOREIGN KEY (tenant_id, agent_id) REFERENCES agents (tenant_id, id),
        FOREIGN KEY (tenant_id, conversation_id) REFERENCES conversations (tenant_id, id)
      )`);
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('DROP TABLE read_marks');
  }
}
