import { MigrationInterface, QueryRunner } from 'typeorm';

/** Callers' names for requests that must be done once, with the answers to give again. */
export class Idempotency1795392000003 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    // The response holds a message of the conversation; an erasure deletes it.
    await db.query(`
      CREATE TABLE idempotency_keys (
        tenant_id       uuid NOT NULL REFERENCES workspaces (id),
        key             text NOT NULL,
        fingerprint     bytea NOT NULL,
        response        json,
        conversation_id uuid,
        created_at      timestamptz NOT NULL,
        PRIMARY KEY (tenant_id, key)
      )`);
    await db.query(`
      CREATE INDEX idempotency_keys_conversation_idx ON idempotency_keys (tenant_id, conversation_id)
      WHERE conversation_id IS NOT NULL`);
    await db.query('CREATE INDEX idempotency_keys_created_idx ON idempotency_keys (created_at)');
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('DROP TABLE idempotency_keys');
  }
}
