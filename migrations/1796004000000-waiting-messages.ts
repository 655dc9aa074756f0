import { MigrationInterface, QueryRunner } from 'typeorm';
import { createIndexConcurrently } from './support/concurrent-index';

/** Number of conversations that one step reads. */
const STEP = 1_000;

/**
 * The customer's first message that waits for a reply, of each open conversation, and its index. It can be
 * called again after a failure.
 */
export class WaitingMessages1796004000000 implements MigrationInterface {
  readonly transaction = false;

  async up(db: QueryRunner): Promise<void> {
    await db.query('ALTER TABLE conversations ADD COLUMN IF NOT EXISTS waiting_message_id uuid');
    await createIndexConcurrently(db, {
      name: 'conversations_waiting_idx',
      table: 'conversations',
      definition: '(tenant_id, waiting_message_id) WHERE waiting_message_id IS NOT NULL',
    });
    const first = ['00000000-0000-0000-0000-000000000000', '00000000-0000-0000-0000-000000000000'];
    for (let after: string[] | null = first; after;) after = await this.step(db, after);
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('ALTER TABLE conversations DROP COLUMN waiting_message_id');
  }

  /** Fills the column of the next conversations, and returns the key of the last one; null at the end. */
  private async step(db: QueryRunner, after: string[]): Promise<string[] | null> {
    const rows = (await db.query(
      `SELECT tenant_id, id FROM conversations WHERE (tenant_id, id) > ($1, $2)
       ORDER BY tenant_id, id LIMIT ${STEP}`,
      after,
    )) as { tenant_id: string; id: string }[];
    const last = rows.at(-1);
    if (!last) return null;
    await db.query(
      `UPDATE conversations c
       SET waiting_message_id = (
         SELECT id FROM messages m
         WHERE m.tenant_id = c.tenant_id AND m.conversation_id = c.id AND m.sender_type = 'CUSTOMER'
           AND m.unsent_at IS NULL
           AND m.id > coalesce((
             SELECT id FROM messages r
             WHERE r.tenant_id = c.tenant_id AND r.conversation_id = c.id AND r.sender_type = 'AGENT'
             ORDER BY r.id DESC LIMIT 1), '00000000-0000-0000-0000-000000000000')
         ORDER BY m.id LIMIT 1)
       WHERE (tenant_id, id) > ($1, $2) AND (tenant_id, id) <= ($3, $4) AND status = 'OPEN'
         AND waiting_message_id IS NULL AND last_message_id IS NOT NULL`,
      [...after, last.tenant_id, last.id],
    );
    return rows.length === STEP ? [last.tenant_id, last.id] : null;
  }
}
