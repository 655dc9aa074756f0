import { MigrationInterface, QueryRunner } from 'typeorm';

const COLUMNS = [
  ['conversations', 'source_channel'],
  ['contact_identities', 'channel'],
  ['channel_connections', 'channel'],
] as const;

/** The service's list of channels is the only one, and its DTOs check names. `down` fails once a row has a new channel. */
export class ChannelNames1795219200007 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    for (const [table, column] of COLUMNS)
      await db.query(`ALTER TABLE ${table} DROP CONSTRAINT ${table}_${column}_check`);
  }

  async down(db: QueryRunner): Promise<void> {
    for (const [table, column] of COLUMNS) {
      await db.query(`
        ALTER TABLE ${table} ADD CONSTRAINT ${table}_${column}_check
        CHECK (${column} IN ('WIDGET', 'WHATSAPP', 'TELEGRAM', 'MESSENGER', 'INSTAGRAM'))`);
    }
  }
}
