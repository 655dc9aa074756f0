import { MigrationInterface, QueryRunner } from 'typeorm';

/** Files of customers' messages that are to be fetched from the provider, or may be fetched once more. */
export class AttachmentFetches1795900100000 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      CREATE TABLE attachment_fetches (
        tenant_id            uuid NOT NULL,
        id                   uuid NOT NULL,
        connection_id        uuid NOT NULL,
        reference_key_id     text NOT NULL,
        reference_ciphertext bytea NOT NULL,
        tries                smallint NOT NULL DEFAULT 0,
        due_at               timestamptz,
        created_at           timestamptz NOT NULL,
        PRIMARY KEY (tenant_id, id),
        FOREIGN KEY (tenant_id, connection_id) REFERENCES channel_connections (tenant_id, id)
      )`);
    await db.query(
      'CREATE INDEX attachment_fetches_due_idx ON attachment_fetches (due_at) WHERE due_at IS NOT NULL',
    );
    await db.query('CREATE INDEX attachment_fetches_created_idx ON attachment_fetches (created_at)');
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('DROP TABLE attachment_fetches');
  }
}
