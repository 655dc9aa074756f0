import { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The makers of links to log in, and the last changes of agents' access: a link ends with the right behind
 * it.
 */
export class LinkMakers1795449600000 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    // The time of the last change of role or activity; null before the first one.
    await db.query('ALTER TABLE agents ADD COLUMN access_changed_at timestamptz');
    // The maker is an agent; null for operators, the system, and links of an earlier version.
    await db.query('ALTER TABLE invitations ADD COLUMN made_by uuid');
    // The agent for whom a manager made the link, and its workspace; null for a link that the person asked
    // for.
    await db.query(`
      ALTER TABLE password_resets ADD COLUMN workspace_id uuid, ADD COLUMN agent_id uuid, ADD COLUMN made_by uuid,
        ADD COLUMN created_at timestamptz NOT NULL DEFAULT now()`);
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query(`
      ALTER TABLE password_resets DROP COLUMN workspace_id, DROP COLUMN agent_id, DROP COLUMN made_by,
        DROP COLUMN created_at`);
    await db.query('ALTER TABLE invitations DROP COLUMN made_by');
    await db.query('ALTER TABLE agents DROP COLUMN access_changed_at');
  }
}
