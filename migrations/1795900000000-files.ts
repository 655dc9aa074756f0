import { MigrationInterface, QueryRunner } from 'typeorm';

/** Files of messages: their bytes are in a store, and what is known of them is here. */
export class Files1795900000000 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      CREATE TABLE files (
        tenant_id       uuid NOT NULL REFERENCES workspaces (id),
        id              uuid NOT NULL,
        conversation_id uuid,
        uploader        text,
        name            text NOT NULL,
        declared_type   text,
        declared_sha256 bytea,
        size            bigint NOT NULL,
        kind            text,
        content_type    text,
        sha256          bytea,
        width           integer,
        height          integer,
        duration_ms     integer,
        scan            text NOT NULL DEFAULT 'UNSCANNED',
        rendition       text,
        stored_at       timestamptz,
        delete_at       timestamptz,
        created_at      timestamptz NOT NULL,
        PRIMARY KEY (tenant_id, id)
      )`);
    await db.query('CREATE INDEX files_delete_at_idx ON files (delete_at) WHERE delete_at IS NOT NULL');
    await db.query(
      'CREATE INDEX files_conversation_idx ON files (tenant_id, conversation_id) WHERE conversation_id IS NOT NULL',
    );
    await db.query(`
      CREATE TABLE attachments (
        tenant_id       uuid NOT NULL,
        id              uuid NOT NULL,
        conversation_id uuid NOT NULL,
        message_id      uuid NOT NULL,
        position        smallint NOT NULL,
        file_id         uuid,
        kind            text NOT NULL,
        name            text,
        content_type    text,
        size            bigint,
        state           text NOT NULL,
        problem         text,
        caption         text,
        created_at      timestamptz NOT NULL,
        PRIMARY KEY (tenant_id, id),
        FOREIGN KEY (tenant_id, conversation_id, message_id) REFERENCES messages (tenant_id, conversation_id, id),
        FOREIGN KEY (tenant_id, file_id) REFERENCES files (tenant_id, id)
      )`);
    await db.query(
      'CREATE INDEX attachments_message_idx ON attachments (tenant_id, conversation_id, message_id, position)',
    );
    await db.query(
      'CREATE INDEX attachments_file_idx ON attachments (tenant_id, file_id) WHERE file_id IS NOT NULL',
    );
    await db.query(`
      CREATE TABLE file_usage (
        tenant_id uuid PRIMARY KEY REFERENCES workspaces (id),
        bytes     bigint NOT NULL
      )`);
    // Rows that are there already keep the defaults without being written again.
    await db.query(`
      ALTER TABLE messages
        ADD COLUMN attachment_count smallint NOT NULL DEFAULT 0,
        ADD COLUMN is_described boolean NOT NULL DEFAULT false`);
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('ALTER TABLE messages DROP COLUMN attachment_count, DROP COLUMN is_described');
    await db.query('DROP TABLE file_usage');
    await db.query('DROP TABLE attachments');
    await db.query('DROP TABLE files');
  }
}
