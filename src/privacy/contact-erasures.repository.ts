import { Injectable } from '@nestjs/common';
import { Not } from 'typeorm';
import { isId } from '../common/ids';
import { Database } from '../database/database';
import { Transaction } from '../database/transaction';
import { ContactErasureEntity } from './contact-erasure.entity';

/** Names an erasure. */
export type ContactErasureKey = Pick<ContactErasureEntity, 'tenantId' | 'id'>;

/** Erasures that take turns. */
const MAX_LISTED = 100;
/** The most keys of one statement. */
const MAX_KEYS = 500;

@Injectable()
export class ContactErasuresRepository {
  constructor(private readonly database: Database) {}

  async find(tenantId: string, id: string): Promise<ContactErasureEntity | null> {
    return isId(id) ? this.database.manager.findOneBy(ContactErasureEntity, { tenantId, id }) : null;
  }

  findUnfinished(tx: Transaction, tenantId: string, contactId: string): Promise<ContactErasureEntity | null> {
    return tx.manager.findOneBy(ContactErasureEntity, { tenantId, contactId, status: Not('COMPLETED') });
  }

  async insert(tx: Transaction, erasure: ContactErasureEntity): Promise<void> {
    await tx.manager.insert(ContactErasureEntity, erasure);
  }

  /** Of all workspaces: a plain read. */
  listDue(): Promise<ContactErasureKey[]> {
    return this.database.query(
      `SELECT tenant_id AS "tenantId", id FROM contact_erasures WHERE status <> 'COMPLETED' AND due_at <= now()
       ORDER BY due_at LIMIT ${MAX_LISTED}`,
    );
  }

  /** Null when another process has it, or has ended its pass meanwhile. */
  async lockDue(tx: Transaction, { tenantId, id }: ContactErasureKey): Promise<ContactErasureEntity | null> {
    const [row] = await tx.query<ContactErasureEntity>(
      `SELECT tenant_id AS "tenantId", id, contact_id AS "contactId", status, messages,
              cursor_conversation_id AS "conversationId", cursor_message_id AS "messageId", due_at AS "dueAt",
              created_at AS "createdAt", finished_at AS "finishedAt"
       FROM contact_erasures
       WHERE tenant_id = $1 AND id = $2 AND status <> 'COMPLETED' AND due_at <= now() FOR UPDATE SKIP LOCKED`,
      [tenantId, id],
    );
    return row ?? null;
  }

  async advance(tx: Transaction, { tenantId, id, ...values }: ContactErasureEntity): Promise<void> {
    await tx.manager.update(ContactErasureEntity, { tenantId, id }, values);
  }

  async nextConversation(tx: Transaction, erasure: ContactErasureEntity): Promise<string | null> {
    const { tenantId, contactId, conversationId } = erasure;
    const [row] = await tx.query<{ id: string }>(
      'SELECT id FROM conversations WHERE tenant_id = $1 AND contact_id = $2 AND id > $3 ORDER BY id LIMIT 1',
      [tenantId, contactId, conversationId],
    );
    return row?.id ?? null;
  }

  /** The contact's id on the channel is in their conversations too. */
  async forgetIdentity(tx: Transaction, tenantId: string, conversationId: string): Promise<void> {
    await tx.query(
      `UPDATE conversations SET identity_external_id = NULL
       WHERE tenant_id = $1 AND id = $2 AND identity_external_id IS NOT NULL`,
      [tenantId, conversationId],
    );
  }

  /**
   * Deletes idempotency keys of a conversation: their responses hold its messages. They are no more than its messages, so
   * some for each step are enough.
   */
  async deleteIdempotencyKeys(tx: Transaction, tenantId: string, conversationId: string): Promise<void> {
    await tx.query(
      `DELETE FROM idempotency_keys WHERE tenant_id = $1 AND key IN (
         SELECT key FROM idempotency_keys WHERE tenant_id = $1 AND conversation_id = $2
         ORDER BY key LIMIT ${MAX_KEYS} FOR UPDATE)`,
      [tenantId, conversationId],
    );
  }
}
