import { MigrationInterface, QueryRunner } from 'typeorm';

/** How long a workspace keeps messages. */
export class MessageRetention1795305600026 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    // messages_erased_until: every message from before it is erased. Null before the first run.
    await db.query('ALTER TABLE workspaces ADD COLUMN message_retention_days integer');
    await db.query('ALTER TABLE workspaces ADD COLUMN messages_erased_until timestamptz');
    await db.query(`
      ALTER TABLE workspaces ADD CONSTRAINT workspaces_message_retention_days_check
      CHECK (message_retention_days > 0)`);
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query(
      'ALTER TABLE workspaces DROP COLUMN messages_erased_until, DROP COLUMN message_retention_days',
    );
  }
}
