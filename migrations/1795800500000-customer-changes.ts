import { MigrationInterface, QueryRunner } from 'typeorm';

/** Changes of messages by their customers, and those that come before their message. */
export class CustomerChanges1795800500000 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      ALTER TABLE messages
        ADD COLUMN first_body text,
        ADD COLUMN edited_at timestamptz,
        ADD COLUMN edit_number double precision,
        ADD COLUMN unsent_at timestamptz,
        ADD COLUMN reactions text[],
        ADD COLUMN reaction_number double precision`);
    // A row without a body is of an unsent message.
    await db.query(`
      CREATE TABLE early_changes (
        tenant_id     uuid NOT NULL,
        connection_id uuid NOT NULL,
        provider_id   text NOT NULL,
        contact_id    uuid,
        body          text,
        metadata      jsonb,
        edit_number   double precision,
        created_at    timestamptz NOT NULL,
        PRIMARY KEY (tenant_id, connection_id, provider_id),
        FOREIGN KEY (tenant_id, connection_id) REFERENCES channel_connections (tenant_id, id)
      )`);
    await db.query('CREATE INDEX early_changes_created_idx ON early_changes (created_at)');
    await db.query(
      'CREATE INDEX early_changes_contact_idx ON early_changes (tenant_id, contact_id) WHERE contact_id IS NOT NULL',
    );
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('DROP TABLE early_changes');
    await db.query(`
      ALTER TABLE messages
        DROP COLUMN first_body,
        DROP COLUMN edited_at,
        DROP COLUMN edit_number,
        DROP COLUMN unsent_at,
        DROP COLUMN reactions,
        DROP COLUMN reaction_number`);
  }
}
