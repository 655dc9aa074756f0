import { MigrationInterface, QueryRunner } from 'typeorm';

/** Mails to visitors about answers that they have not read: their addresses, and the mails. */
export class AnswerNotices1795903000003 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    // Without an e-mail address of its own, answers go to that of the contact.
    await db.query(`
      CREATE TABLE answer_addresses (
        tenant_id       uuid NOT NULL,
        conversation_id uuid NOT NULL,
        email           text,
        locale          text NOT NULL,
        refused_at      timestamptz,
        created_at      timestamptz NOT NULL,
        PRIMARY KEY (tenant_id, conversation_id),
        FOREIGN KEY (tenant_id, conversation_id) REFERENCES conversations (tenant_id, id)
      )`);
    // due_at is the time of the next try, or the end of the lease of the worker that is trying.
    await db.query(`
      CREATE TABLE answer_notices (
        tenant_id       uuid NOT NULL,
        id              uuid NOT NULL,
        conversation_id uuid NOT NULL,
        connection_id   uuid NOT NULL,
        message_id      uuid NOT NULL,
        tries           smallint NOT NULL DEFAULT 0,
        due_at          timestamptz,
        sent_at         timestamptz,
        created_at      timestamptz NOT NULL,
        PRIMARY KEY (tenant_id, id),
        UNIQUE (tenant_id, conversation_id),
        FOREIGN KEY (tenant_id, conversation_id) REFERENCES conversations (tenant_id, id),
        FOREIGN KEY (tenant_id, connection_id) REFERENCES channel_connections (tenant_id, id)
      )`);
    await db.query('CREATE INDEX answer_notices_due_idx ON answer_notices (due_at) WHERE due_at IS NOT NULL');
    await db.query('CREATE INDEX answer_notices_created_idx ON answer_notices (created_at)');
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('DROP TABLE answer_notices, answer_addresses');
  }
}
