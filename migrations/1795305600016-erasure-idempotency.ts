import { MigrationInterface, QueryRunner } from 'typeorm';
import { createIndexConcurrently } from './support/concurrent-index';

/** Finds the idempotency keys of a conversation, whose responses hold its messages. */
export class ErasureIdempotency1795305600016 implements MigrationInterface {
  readonly transaction = false;

  async up(db: QueryRunner): Promise<void> {
    await db.query('ALTER TABLE idempotency_keys ADD COLUMN IF NOT EXISTS conversation_id uuid');
    const definition = '(tenant_id, conversation_id) WHERE conversation_id IS NOT NULL';
    const name = 'idempotency_keys_conversation_idx';
    await createIndexConcurrently(db, { name, table: 'idempotency_keys', definition });
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('ALTER TABLE idempotency_keys DROP COLUMN IF EXISTS conversation_id');
  }
}
