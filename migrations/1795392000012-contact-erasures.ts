import { MigrationInterface, QueryRunner } from 'typeorm';

/** Erasures of contacts. */
export class ContactErasures1795392000012 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    // A row holds ids and times only, and stays as the record of what was erased. The cursor is the last
    // message that was erased; all conversations before its own are done. messages counts those erased.
    await db.query(`
      CREATE TABLE contact_erasures (
        tenant_id              uuid NOT NULL,
        id                     uuid NOT NULL,
        contact_id             uuid NOT NULL,
        status                 text NOT NULL CHECK (status IN ('RUNNING', 'SETTLING', 'COMPLETED')),
        messages               integer NOT NULL DEFAULT 0,
        cursor_conversation_id uuid NOT NULL,
        cursor_message_id      uuid NOT NULL,
        due_at                 timestamptz NOT NULL,
        created_at             timestamptz NOT NULL,
        finished_at            timestamptz,
        PRIMARY KEY (tenant_id, id),
        FOREIGN KEY (tenant_id, contact_id) REFERENCES contacts (tenant_id, id),
        CHECK ((status = 'COMPLETED') = (finished_at IS NOT NULL))
      )`);
    await db.query(`
      CREATE UNIQUE INDEX contact_erasures_unfinished_key ON contact_erasures (tenant_id, contact_id)
      WHERE status <> 'COMPLETED'`);
    await db.query(`
      CREATE INDEX contact_erasures_due_idx ON contact_erasures (due_at) WHERE status <> 'COMPLETED'`);
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('DROP TABLE contact_erasures');
  }
}
