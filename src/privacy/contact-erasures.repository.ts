import { Injectable } from '@nestjs/common';
import { Not } from 'typeorm';
import { isId } from '../common/ids';
import { Database, Reader } from '../database/database';
import { Transaction } from '../database/transaction';
import { ContactErasureEntity } from './contact-erasure.entity';

/** Names an erasure. */
export type ContactErasureKey = Pick<ContactErasureEntity, 'tenantId' | 'id'>;

/** Number of erasures that take turns in one run. */
const MAX_LISTED = 100;

@Injectable()
export class ContactErasuresRepository {
  constructor(private readonly database: Database) {}

  async find(tenantId: string, id: string): Promise<ContactErasureEntity | null> {
    return isId(id) ? this.database.manager.findOneBy(ContactErasureEntity, { tenantId, id }) : null;
  }

  findUnfinished(
    tenantId: string,
    contactId: string,
    reader: Reader = this.database,
  ): Promise<ContactErasureEntity | null> {
    return reader.manager.findOneBy(ContactErasureEntity, { tenantId, contactId, status: Not('COMPLETED') });
  }

  async insert(tx: Transaction, erasure: ContactErasureEntity): Promise<void> {
    await tx.manager.insert(ContactErasureEntity, erasure);
  }

  /** Lists erasures of all workspaces whose next step may begin, the longest due first. It locks nothing. */
  listDue(): Promise<ContactErasureKey[]> {
    return this.database.search<ContactErasureKey & { dueAt: Date }>(
      `SELECT tenant_id AS "tenantId", id, due_at AS "dueAt" FROM contact_erasures WHERE status <> 'COMPLETED' AND due_at <= now()
       ORDER BY due_at LIMIT ${MAX_LISTED}`,
      { order: ({ dueAt }) => [dueAt], limit: MAX_LISTED, times: ['dueAt'] },
    );
  }

  /**
   * Locks an erasure whose next step may begin. It returns null when another process has the erasure, or has
   * done that step.
   */
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
}
