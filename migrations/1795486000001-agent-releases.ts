import { MigrationInterface, QueryRunner } from 'typeorm';
import { createIndexConcurrently } from './support/concurrent-index';

/** Deactivated agents whose open and snoozed conversations still have to become nobody's. */
export class AgentReleases1795486000001 implements MigrationInterface {
  readonly transaction = false;

  async up(db: QueryRunner): Promise<void> {
    await db.query(
      'ALTER TABLE agents ADD COLUMN IF NOT EXISTS releases_conversations boolean NOT NULL DEFAULT false',
    );
    await createIndexConcurrently(db, {
      name: 'agents_releasing_idx',
      table: 'agents',
      definition: '(tenant_id, id) WHERE releases_conversations',
    });
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('DROP INDEX CONCURRENTLY agents_releasing_idx');
    await db.query('ALTER TABLE agents DROP COLUMN releases_conversations');
  }
}
