import { MigrationInterface, QueryRunner } from 'typeorm';

/** Uploads that no message has taken, by who made them. */
export class UnusedUploads1795903000000 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(
      'CREATE INDEX files_unused_idx ON files (tenant_id, uploader) WHERE uploader IS NOT NULL AND delete_at IS NOT NULL',
    );
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('DROP INDEX files_unused_idx');
  }
}
