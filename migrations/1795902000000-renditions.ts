import { MigrationInterface, QueryRunner } from 'typeorm';

/** Time at which the rendition of a file is to be made, and the number of tries. */
export class Renditions1795902000000 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      ALTER TABLE files
        ADD COLUMN rendition_due_at timestamptz,
        ADD COLUMN rendition_tries smallint NOT NULL DEFAULT 0`);
    await db.query(
      'CREATE INDEX files_rendition_due_idx ON files (rendition_due_at) WHERE rendition_due_at IS NOT NULL',
    );
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('ALTER TABLE files DROP COLUMN rendition_due_at, DROP COLUMN rendition_tries');
  }
}
