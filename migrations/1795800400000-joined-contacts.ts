import { MigrationInterface, QueryRunner } from 'typeorm';
import { createIndexConcurrently } from './support/concurrent-index';

/** Several ids of one person on a channel, of which some are replaced, and contacts that were merged. */
export class JoinedContacts1795800400000 implements MigrationInterface {
  readonly transaction = false;

  async up(db: QueryRunner): Promise<void> {
    await db.query('ALTER TABLE contact_identities ADD COLUMN IF NOT EXISTS replaced_at timestamptz');
    await db.query('ALTER TABLE contacts ADD COLUMN IF NOT EXISTS merged_into_id uuid');
    await createIndexConcurrently(db, {
      name: 'contacts_merged_idx',
      table: 'contacts',
      definition: '(tenant_id, merged_into_id, id) WHERE merged_into_id IS NOT NULL',
    });
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('DROP INDEX contacts_merged_idx');
    await db.query('ALTER TABLE contacts DROP COLUMN merged_into_id');
    await db.query('ALTER TABLE contact_identities DROP COLUMN replaced_at');
  }
}
