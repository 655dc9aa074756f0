import { MigrationInterface, QueryRunner } from 'typeorm';

/** Channel connections, outbound messages, and providers' ids of messages. */
export class Channels1795392000011 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    // hook_key and the account are unique over all workspaces: providers call without naming one.
    await db.query(`
      CREATE TABLE channel_connections (
        tenant_id              uuid NOT NULL REFERENCES workspaces (id),
        id                     uuid NOT NULL,
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
        PRIMARY KEY (tenant_id, id)
      )`);
    // Only one connection can send a conversation's outbound messages.
    await db.query(`
      CREATE UNIQUE INDEX channel_connections_tenant_channel_key ON channel_connections (tenant_id, channel)
      WHERE status <> 'DISCONNECTED'`);
    // An account belongs to one workspace: its customers, and the calls of its provider.
    await db.query(`
      CREATE UNIQUE INDEX channel_connections_account_key ON channel_connections (channel, external_id)
      WHERE status <> 'DISCONNECTED'`);

    // One row for each unfinished outbound message. The message's own row holds its status. Only the first
    // row of a conversation does not wait, so however many wait behind it, no search for due messages reads
    // them. next_attempt_at is also the end of a lease or a hold: one column is the schedule of everything.
    await db.query(`
      CREATE TABLE outbound_messages (
        tenant_id       uuid NOT NULL,
        conversation_id uuid NOT NULL,
        message_id      uuid NOT NULL,
        connection_id   uuid NOT NULL,
        attempt_count   smallint NOT NULL DEFAULT 0,
        waits           boolean NOT NULL DEFAULT false,
        holds           boolean NOT NULL DEFAULT false,
        next_attempt_at timestamptz NOT NULL,
        lease_id        uuid,
        PRIMARY KEY (tenant_id, conversation_id, message_id),
        FOREIGN KEY (tenant_id, conversation_id, message_id) REFERENCES messages (tenant_id, conversation_id, id),
        FOREIGN KEY (tenant_id, connection_id) REFERENCES channel_connections (tenant_id, id)
      ) WITH (autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0,
              autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_threshold = 1000000000)`);
    await db.query(`
      CREATE INDEX outbound_messages_due_idx
      ON outbound_messages (tenant_id, connection_id, waits, next_attempt_at, message_id)`);
    // Retries, leases and holds by their time. Messages before their first attempt are not in it.
    await db.query(`
      CREATE INDEX outbound_messages_scheduled_idx ON outbound_messages (next_attempt_at)
      WHERE attempt_count > 0 OR lease_id IS NOT NULL OR holds`);

    // The provider's id of a message, inbound or outbound: so a message that arrives twice is stored once,
    // and a receipt finds its message.
    await db.query(`
      CREATE TABLE provider_messages (
        tenant_id       uuid NOT NULL,
        connection_id   uuid NOT NULL,
        provider_id     text NOT NULL,
        conversation_id uuid NOT NULL,
        message_id      uuid NOT NULL,
        sent_at         timestamptz,
        created_at      timestamptz NOT NULL,
        PRIMARY KEY (tenant_id, connection_id, provider_id),
        FOREIGN KEY (tenant_id, connection_id) REFERENCES channel_connections (tenant_id, id),
        FOREIGN KEY (tenant_id, conversation_id, message_id) REFERENCES messages (tenant_id, conversation_id, id)
      )`);
    await db.query(`
      CREATE INDEX provider_messages_message_idx ON provider_messages (tenant_id, conversation_id, message_id)`);
    await db.query(`CREATE INDEX provider_messages_created_idx ON provider_messages (created_at)`);

    // Receipts that arrive before the response to their send request.
    await db.query(`
      CREATE TABLE early_receipts (
        tenant_id     uuid NOT NULL,
        connection_id uuid NOT NULL,
        provider_id   text NOT NULL,
        status        text NOT NULL CHECK (status IN ('SENT', 'DELIVERED', 'READ', 'FAILED')),
        error         jsonb,
        created_at    timestamptz NOT NULL,
        PRIMARY KEY (tenant_id, connection_id, provider_id, status),
        FOREIGN KEY (tenant_id, connection_id) REFERENCES channel_connections (tenant_id, id)
      )`);
    await db.query(`CREATE INDEX early_receipts_created_idx ON early_receipts (created_at)`);
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('DROP TABLE early_receipts, provider_messages, outbound_messages, channel_connections');
  }
}
