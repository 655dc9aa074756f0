import { MigrationInterface, QueryRunner } from 'typeorm';

/** Messages of conversations. */
export class Messages1795392000007 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      CREATE TABLE messages (
        tenant_id       uuid NOT NULL,
        conversation_id uuid NOT NULL,
        id              uuid NOT NULL,
        sender_type     text NOT NULL CHECK (sender_type IN ('CUSTOMER', 'AGENT')),
        sender_agent_id uuid,
        body            text NOT NULL,
        delivery_status text CHECK (delivery_status IN
                          ('QUEUED', 'SENDING', 'SENT', 'DELIVERED', 'READ', 'FAILED', 'UNKNOWN')),
        delivery_error  jsonb,
        metadata        jsonb,
        created_at      timestamptz NOT NULL,
        PRIMARY KEY (tenant_id, conversation_id, id),
        FOREIGN KEY (tenant_id, conversation_id) REFERENCES conversations (tenant_id, id),
        FOREIGN KEY (tenant_id, sender_agent_id) REFERENCES agents (tenant_id, id),
        CHECK ((sender_type = 'AGENT') = (sender_agent_id IS NOT NULL)),
        CHECK ((sender_type = 'AGENT') = (delivery_status IS NOT NULL))
      )`);
    // A conversation's outbound messages are sent in order: an unsent one blocks later ones.
    await db.query(`
      CREATE INDEX messages_unsent_idx ON messages (tenant_id, conversation_id, id)
      WHERE delivery_status IN ('QUEUED', 'SENDING')`);
    // A provider that returns our id, or echoes a sent message, refers to one of these.
    await db.query(`
      CREATE INDEX messages_unsettled_idx ON messages (tenant_id, id)
      WHERE delivery_status IN ('SENDING', 'UNKNOWN')`);
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('DROP TABLE messages');
  }
}
