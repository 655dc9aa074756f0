import { MigrationInterface, QueryRunner } from 'typeorm';
import { createIndexConcurrently } from './support/concurrent-index';

/** Finds the events of a contact's profile, which its erasure erases. */
export class ContactEvents1795488200000 implements MigrationInterface {
  readonly transaction = false;

  async up(db: QueryRunner): Promise<void> {
    await createIndexConcurrently(db, {
      name: 'events_contact_idx',
      table: 'events',
      definition: `(tenant_id, (data->>'contactId'), id) WHERE type IN ('contact.created', 'contact.updated')`,
    });
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('DROP INDEX events_contact_idx');
  }
}
