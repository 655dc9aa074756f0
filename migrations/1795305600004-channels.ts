import { MigrationInterface, QueryRunner } from 'typeorm';

/** Channel connections, outbound messages, and providers' ids of messages. */
export class Channels1795305600004 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      CREATE TABLE channel_connections (
        id                     uuid PRIMARY KEY,
        tenant_id              uuid NOT NULL REFERENCES workspaces (id),
        channel                text NOT NULL,
        external_id            text NOT NULL,
        hook_key               text NOT NULL UNIQUE,
        settings               jsonb NOT NULL,
        credentials_key_id     text NOT NULL,
        credentials_ciphertext bytea NOT NULL,
        credentials_expire_at  timestamptz,
        status                 text NOT NULL CHECK (status IN ('ACTIVE', 'REAUTH_REQUIRED', 'DISCONNECTED')),
        paused_until           timestamptz,
        created_at             timestamptz NOT NULL,
        updated_at             timestamptz NOT NULL,
        UNIQUE (tenant_id, id)
      )`);
    // Only one connection can send a conversation's outbound messages.
    await db.query(`
      CREATE UNIQUE INDEX channel_connections_tenant_channel_key ON channel_connections (tenant_id, channel)
      WHERE status <> 'DISCONNECTED'`);
    // An account belongs to one workspace: its customers, and the calls of its provider.
    await db.query(`
      CREATE UNIQUE INDEX channel_connections_external_idx ON channel_connections (channel, external_id)
      WHERE status <> 'DISCONNECTED'`);

    // One row for each unfinished outbound message. The message's own row holds its status.
    await db.query(`
      CREATE TABLE message_dispatches (
        tenant_id       uuid NOT NULL,
        conversation_id uuid NOT NULL,
        message_id      uuid NOT NULL,
        connection_id   uuid NOT NULL,
        attempt_count   smallint NOT NULL DEFAULT 0,
        next_attempt_at timestamptz NOT NULL,
        lease_id        uuid,
        lease_until     timestamptz,
        holds_until     timestamptz,
        created_at      timestamptz NOT NULL,
        PRIMARY KEY (tenant_id, conversation_id, message_id),
        FOREIGN KEY (tenant_id, conversation_id, message_id) REFERENCES messages (tenant_id, conversation_id, id),
        FOREIGN KEY (tenant_id, connection_id) REFERENCES channel_connections (tenant_id, id)
      )`);
    await db.query(`
      CREATE INDEX message_dispatches_due_idx ON message_dispatches (connection_id, next_attempt_at)`);
    await db.query(`
      CREATE INDEX message_dispatches_lease_idx ON message_dispatches (lease_until) WHERE lease_until IS NOT NULL`);
    await db.query(`
      CREATE INDEX message_dispatches_hold_idx ON message_dispatches (holds_until) WHERE holds_until IS NOT NULL`);

    // The provider's id of a message, inbound or outbound: so a message that arrives twice is stored once, and a receipt
    // finds its message.
    await db.query(`
      CREATE TABLE provider_messages (
        connection_id   uuid NOT NULL,
        provider_id     text NOT NULL,
        tenant_id       uuid NOT NULL,
        conversation_id uuid NOT NULL,
        message_id      uuid NOT NULL,
        sent_at         timestamptz,
        created_at      timestamptz NOT NULL,
        PRIMARY KEY (connection_id, provider_id),
        FOREIGN KEY (tenant_id, connection_id) REFERENCES channel_connections (tenant_id, id),
        FOREIGN KEY (tenant_id, conversation_id, message_id) REFERENCES messages (tenant_id, conversation_id, id)
      )`);
    await db.query(`
      CREATE INDEX provider_messages_message_idx ON provider_messages (tenant_id, conversation_id, message_id)`);
    await db.query(`CREATE INDEX provider_messages_created_idx ON provider_messages USING brin (created_at)`);

    // Receipts that arrive before the response to their send request.
    await db.query(`
      CREATE TABLE early_receipts (
        tenant_id     uuid NOT NULL,
        connection_id uuid NOT NULL,
        provider_id   text NOT NULL,
        status        text NOT NULL CHECK (status IN ('SENT', 'DELIVERED', 'READ', 'FAILED')),
        error         jsonb,
        created_at    timestamptz NOT NULL,
        PRIMARY KEY (connection_id, provider_id, status),
        FOREIGN KEY (tenant_id, connection_id) REFERENCES channel_connections (tenant_id, id)
      )`);
    await db.query(`CREATE INDEX early_receipts_created_idx ON early_receipts USING brin (created_at)`);
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('DROP TABLE early_receipts, provider_messages, message_dispatches, channel_connections');
  }
}
