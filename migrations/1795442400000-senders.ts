import { MigrationInterface, QueryRunner } from 'typeorm';

/** The senders of messages, which no foreign key checks any more. */
export class Senders1795442400000 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    // Each message by default is sent by the first manager of its workspace, so the check would lock that one
    // row for every message. An agent is deleted only with its workspace, after the messages.
    await db.query('ALTER TABLE messages DROP CONSTRAINT messages_tenant_id_sender_agent_id_fkey');
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query(`
      ALTER TABLE messages ADD CONSTRAINT messages_tenant_id_sender_agent_id_fkey
      FOREIGN KEY (tenant_id, sender_agent_id) REFERENCES agents (tenant_id, id)`);
  }
}
