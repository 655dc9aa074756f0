import { MigrationInterface, QueryRunner } from 'typeorm';
import { createIndexConcurrently } from './support/concurrent-index';

/** A page of the audit log costs a page with each filter: by action, actor, type of entity, and entity. */
const DEFINITIONS = {
  audit_entries_action_idx: '(tenant_id, action, id)',
  // As an audit.event names its actor.
  audit_entries_actor_idx: `(tenant_id, (coalesce(actor_id::text, actor_type || coalesce(':' || actor_name, ''))), id)`,
  audit_entries_entity_idx: '(tenant_id, entity, id)',
  audit_entries_entity_id_idx: '(tenant_id, entity_id, id)',
};

export class AuditIndexes1795305600025 implements MigrationInterface {
  readonly transaction = false;

  async up(db: QueryRunner): Promise<void> {
    for (const [name, definition] of Object.entries(DEFINITIONS))
      await createIndexConcurrently(db, { name, table: 'audit_entries', definition });
    await db.query('ALTER TABLE audit_entries VALIDATE CONSTRAINT audit_entries_actor_check');
  }

  async down(db: QueryRunner): Promise<void> {
    for (const name of Object.keys(DEFINITIONS)) await db.query(`DROP INDEX CONCURRENTLY IF EXISTS ${name}`);
  }
}
