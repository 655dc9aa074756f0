import { MigrationInterface, QueryRunner } from 'typeorm';

/** Parts of messages with files, each of which a provider gets by a request of its own. */
export class MessageParts1795901000000 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      CREATE TABLE message_parts (
        tenant_id       uuid NOT NULL,
        conversation_id uuid NOT NULL,
        message_id      uuid NOT NULL,
        position        smallint NOT NULL,
        id              uuid NOT NULL,
        content         text NOT NULL,
        attachment_id   uuid,
        file_id         uuid,
        status          text NOT NULL,
        attempt_count   smallint NOT NULL,
        connection_id   uuid,
        provider_id     text,
        error           jsonb,
        created_at      timestamptz NOT NULL,
        PRIMARY KEY (tenant_id, conversation_id, message_id, position),
        FOREIGN KEY (tenant_id, conversation_id, message_id) REFERENCES messages (tenant_id, conversation_id, id)
      )`);
    // A provider repeats our own id of a part, or names its own id.
    await db.query('CREATE INDEX message_parts_id_idx ON message_parts (tenant_id, id)');
    await db.query(`
      CREATE INDEX message_parts_provider_idx ON message_parts (tenant_id, connection_id, provider_id)
      WHERE provider_id IS NOT NULL`);

    // Providers' references of files that were uploaded to them.
    await db.query(`
      CREATE TABLE provider_files (
        tenant_id     uuid NOT NULL,
        connection_id uuid NOT NULL,
        file_id       uuid NOT NULL,
        form          text NOT NULL,
        reference     text NOT NULL,
        expires_at    timestamptz NOT NULL,
        PRIMARY KEY (tenant_id, connection_id, file_id, form),
        FOREIGN KEY (tenant_id, connection_id) REFERENCES channel_connections (tenant_id, id)
      )`);
    await db.query('CREATE INDEX provider_files_file_idx ON provider_files (tenant_id, file_id)');
    await db.query('CREATE INDEX provider_files_expires_idx ON provider_files (expires_at)');
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('DROP TABLE provider_files, message_parts');
  }
}
