import { MigrationInterface, QueryRunner } from 'typeorm';

/** Contacts say which of their fields the workspace's server has signed for a visitor of its widget. */
export class VerifiedContactFields1795305600009 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(`ALTER TABLE contacts ADD COLUMN verified text[] NOT NULL DEFAULT '{}'`);
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('ALTER TABLE contacts DROP COLUMN verified');
  }
}
