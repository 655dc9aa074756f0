import { MigrationInterface, QueryRunner } from 'typeorm';

/** Names and descriptions of webhook endpoints, and a number by which one edit sees another. */
export class EndpointEdits1795453200000 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    // version counts the edits: an edit that was begun on an older one is refused.
    await db.query(`
      ALTER TABLE webhook_endpoints ADD COLUMN name text, ADD COLUMN description text,
        ADD COLUMN version integer NOT NULL DEFAULT 1`);
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query(
      'ALTER TABLE webhook_endpoints DROP COLUMN name, DROP COLUMN description, DROP COLUMN version',
    );
  }
}
