import { MigrationInterface, QueryRunner } from 'typeorm';

/** Changes that wait until their customer is known, and what is left of messages that were unsent. */
export class WaitingChanges1795805000001 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    // Two customers may say that a message is theirs, of whom one is right.
    await db.query(`
      ALTER TABLE early_changes
        ADD COLUMN customer_id text NOT NULL DEFAULT '',
        DROP CONSTRAINT early_changes_pkey,
        ADD PRIMARY KEY (tenant_id, connection_id, provider_id, customer_id)`);
    await db.query('CREATE INDEX early_changes_customer_idx ON early_changes (tenant_id, customer_id)');
    // Texts between the first one and the present one, which drafts may quote.
    await db.query('ALTER TABLE messages ADD COLUMN replaced_bodies text[]');
    // Messages whose texts receivers may still repeat. The cursor is the last event whose answers are gone.
    await db.query(`
      CREATE TABLE unsent_messages (
        tenant_id       uuid NOT NULL,
        conversation_id uuid NOT NULL,
        message_id      uuid NOT NULL,
        cursor          uuid NOT NULL,
        due_at          timestamptz NOT NULL,
        PRIMARY KEY (tenant_id, conversation_id, message_id),
        FOREIGN KEY (tenant_id, conversation_id, message_id) REFERENCES messages (tenant_id, conversation_id, id)
      )`);
    await db.query('CREATE INDEX unsent_messages_due_idx ON unsent_messages (due_at)');
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('DROP TABLE unsent_messages');
    await db.query('ALTER TABLE messages DROP COLUMN replaced_bodies');
    await db.query('TRUNCATE early_changes');
    await db.query(`
      ALTER TABLE early_changes
        DROP CONSTRAINT early_changes_pkey,
        DROP COLUMN customer_id,
        ADD PRIMARY KEY (tenant_id, connection_id, provider_id)`);
  }
}
