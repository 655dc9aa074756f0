import { MigrationInterface, QueryRunner } from 'typeorm';

/** Conversations with contacts. */
export class Conversations1795392000006 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    // identity_external_id is the contact's identity in this conversation, null if unknown. event_sequence is
    // the number of the conversation's latest event.
    await db.query(`
      CREATE TABLE conversations (
        tenant_id            uuid NOT NULL REFERENCES workspaces (id),
        id                   uuid NOT NULL,
        contact_id           uuid NOT NULL,
        source_channel       text NOT NULL,
        status               text NOT NULL CHECK (status IN ('OPEN', 'SNOOZED', 'CLOSED')),
        assigned_agent_id    uuid,
        identity_external_id text,
        event_sequence       bigint NOT NULL DEFAULT 0,
        last_message_id      uuid,
        last_message_preview text,
        last_message_at      timestamptz,
        created_at           timestamptz NOT NULL,
        updated_at           timestamptz NOT NULL,
        PRIMARY KEY (tenant_id, id),
        FOREIGN KEY (tenant_id, contact_id) REFERENCES contacts (tenant_id, id),
        FOREIGN KEY (tenant_id, assigned_agent_id) REFERENCES agents (tenant_id, id)
      )`);
    // Each list has an index that ends in the id by which it pages. The operator finds a conversation by its
    // id alone: by a hash index, because lists would use an ordered one, and read other workspaces' rows.
    await db.query(`CREATE INDEX conversations_id_idx ON conversations USING hash (id)`);
    await db.query(`CREATE INDEX conversations_status_idx ON conversations (tenant_id, status, id)`);
    await db.query(`CREATE INDEX conversations_channel_idx ON conversations (tenant_id, source_channel, id)`);
    await db.query(
      `CREATE INDEX conversations_status_channel_idx ON conversations (tenant_id, status, source_channel, id)`,
    );
    await db.query(`CREATE INDEX conversations_contact_idx ON conversations (tenant_id, contact_id, id)`);
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('DROP TABLE conversations');
  }
}
