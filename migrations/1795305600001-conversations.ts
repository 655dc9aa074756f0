import { MigrationInterface, QueryRunner } from 'typeorm';

/** Contacts, conversations and messages. */
export class Conversations1795305600001 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await this.requireUtf8(db);
    // Keys begin with the tenant, so that no list reads other tenants' rows.
    // search_text holds a line for each searched value; U&'\\0001' marks the line with the phone's digits.
    await db.query(`
      CREATE TABLE contacts (
        tenant_id   uuid NOT NULL REFERENCES workspaces (id),
        id          uuid NOT NULL,
        name        text,
        email       text,
        phone       text,
        avatar_url  text,
        attributes  jsonb NOT NULL DEFAULT '{}',
        search_text text NOT NULL GENERATED ALWAYS AS (
          lower(coalesce(name, '') || E'\\n' || coalesce(email, '') || E'\\n' || coalesce(phone, ''))
          || E'\\n\\x01' || regexp_replace(coalesce(phone, ''), '[^0-9]', '', 'g')
        ) STORED,
        created_at  timestamptz NOT NULL,
        updated_at  timestamptz NOT NULL,
        PRIMARY KEY (tenant_id, id)
      )`);
    await this.createSearchIndex(db);
    await db.query(`
      CREATE TABLE contact_identities (
        tenant_id   uuid NOT NULL,
        channel     text NOT NULL,
        external_id text NOT NULL,
        contact_id  uuid NOT NULL,
        created_at  timestamptz NOT NULL,
        PRIMARY KEY (tenant_id, channel, external_id),
        FOREIGN KEY (tenant_id, contact_id) REFERENCES contacts (tenant_id, id)
      )`);
    await db.query(
      `CREATE INDEX contact_identities_contact_idx ON contact_identities (tenant_id, contact_id)`,
    );
    // identity_external_id: the contact's identity in this conversation; null if unknown.
    // event_sequence: the number of the conversation's latest event.
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
    // The operator finds a conversation by its id alone. A hash index, because lists would use an ordered one, and read
    // other tenants' rows.
    await db.query(`CREATE INDEX conversations_id_idx ON conversations USING hash (id)`);
    await db.query(`CREATE INDEX conversations_status_idx ON conversations (tenant_id, status, id)`);
    await db.query(`CREATE INDEX conversations_channel_idx ON conversations (tenant_id, source_channel, id)`);
    await db.query(
      `CREATE INDEX conversations_status_channel_idx ON conversations (tenant_id, status, source_channel, id)`,
    );
    await db.query(`CREATE INDEX conversations_contact_idx ON conversations (tenant_id, contact_id, id)`);
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
    await db.query(`
      CREATE TABLE idempotency_keys (
        tenant_id   uuid NOT NULL REFERENCES workspaces (id),
        key         text NOT NULL,
        fingerprint bytea NOT NULL,
        response    json,
        created_at  timestamptz NOT NULL,
        PRIMARY KEY (tenant_id, key)
      )`);
    await db.query(`CREATE INDEX idempotency_keys_created_idx ON idempotency_keys (created_at)`);
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('DROP TABLE idempotency_keys, messages, conversations, contact_identities, contacts');
    await db.query('DROP FUNCTION search_grams');
  }

  /**
   * A gram is three characters in a row, or five. Those of five are rare, which makes a search fast; to save space only
   * half of them are kept, by the hash of their first three. A gram is hashed with its workspace, so that a search reads
   * no entry of another one.
   */
  private async createSearchIndex(db: QueryRunner): Promise<void> {
    // Of a searched term it gives the grams of five alone, if there are any. Its cost and the missing PARALLEL SAFE make
    // the planner use the index, in one process; a higher cost would make it compile each search (`jit`).
    await db.query(`
      CREATE FUNCTION search_grams(tenant_id uuid, content text, of_term boolean) RETURNS bigint[]
      LANGUAGE plpgsql IMMUTABLE STRICT COST 2000 AS $$
      DECLARE
        seed bigint := hashtextextended(tenant_id::text, 0);
        size integer := length(content);
        gram bigint;
        short bigint[] := '{}';
        long bigint[] := '{}';
      BEGIN
        FOR i IN 1 .. size - 2 LOOP
          gram := hashtextextended(substr(content, i, 3), seed);
          short[i] := gram;
          IF gram & 1 = 0 AND i <= size - 4 THEN
            long := long || hashtextextended(substr(content, i, 5), seed);
          END IF;
        END LOOP;
        IF of_term AND long <> '{}' THEN RETURN long; END IF;
        RETURN short || long;
      END $$`);
    // Every search reads the list of pending entries from end to end, so it is kept short.
    await db.query(`
      CREATE INDEX contacts_search_idx ON contacts USING gin (search_grams(tenant_id, search_text, false))
      WITH (gin_pending_list_limit = 256)`);
    // Searches are planned without them, and ANALYZE would run the function for its whole sample.
    await db.query('ALTER INDEX contacts_search_idx ALTER COLUMN 1 SET STATISTICS 0');
  }

  /** In another encoding, or with the "C" character type, search misses Ë. */
  private async requireUtf8(db: QueryRunner): Promise<void> {
    const [{ folds }] = (await db.query(
      `SELECT pg_encoding_to_char(encoding) = 'UTF8' AND lower('Ë') = 'ë' AS folds
       FROM pg_database WHERE datname = current_database()`,
    )) as [{ folds: boolean }];
    if (!folds) throw new Error('The database must be UTF-8 with a UTF-8 character type (such as C.UTF-8)');
  }
}
