import { Injectable } from '@nestjs/common';
import { isId, LOWEST_ID, newId } from '../common/ids';
import { Database, Reader } from '../database/database';
import { ContactKey } from '../database/tables/table-declaration';
import { WorkspaceServer } from '../database/placement/placement';
import { Transaction } from '../database/transaction';
import { DUE_ROWS, DuePosition, DueStep, searchDue } from '../queue/polling/due-position';

/** Erasure and its progress, from which any worker can continue it. */
export interface ContactErasure {
  tenantId: string;
  id: string;
  contactId: string;
  /**
   * State of the erasure. RUNNING: data is being erased. SETTLING: everything is erased. A last search
   * follows some minutes later, because work in progress may have written copies meanwhile.
   */
  status: 'RUNNING' | 'SETTLING' | 'COMPLETED';
  messages: number;
  /** Conversation whose messages are being erased. All conversations with lower ids are done. */
  conversationId: string;
  /** Id up to which the messages and events of that conversation are erased. */
  messageId: string;
  /** Time from which the next step may begin. */
  dueAt: Date;
  createdAt: Date;
  finishedAt: Date | null;
}

export type ContactErasureKey = Pick<ContactErasure, 'tenantId' | 'id'>;

const COLUMNS = `tenant_id AS "tenantId", id, contact_id AS "contactId", status, messages,
  cursor_conversation_id AS "conversationId", cursor_message_id AS "messageId", due_at AS "dueAt",
  created_at AS "createdAt", finished_at AS "finishedAt"`;
const SELECT_ERASURE = `SELECT ${COLUMNS} FROM contact_erasures`;

@Injectable()
export class ContactErasuresRepository {
  constructor(private readonly database: Database) {}

  async find(tenantId: string, id: string): Promise<ContactErasure | null> {
    if (!isId(id)) return null;
    const sql = `${SELECT_ERASURE} WHERE tenant_id = $1 AND id = $2`;
    const [row] = await this.database.query<ContactErasure>(sql, [tenantId, id]);
    return row ?? null;
  }

  async findUnfinished(
    { tenantId, contactId }: ContactKey,
    reader: Reader = this.database,
  ): Promise<ContactErasure | null> {
    const sql = `${SELECT_ERASURE} WHERE tenant_id = $1 AND contact_id = $2 AND status <> 'COMPLETED'`;
    const [row] = await reader.query<ContactErasure>(sql, [tenantId, contactId]);
    return row ?? null;
  }

  /** Stores a new erasure. Its first step is due at once. */
  async insert(tx: Transaction, { tenantId, contactId }: ContactKey): Promise<ContactErasure> {
    const [row] = await tx.query<ContactErasure>(
      `INSERT INTO contact_erasures (tenant_id, id, contact_id, status, messages, cursor_conversation_id,
         cursor_message_id, due_at, created_at)
       VALUES ($1, $2, $3, 'RUNNING', 0, $4, $4, now(), now()) RETURNING ${COLUMNS}`,
      [tenantId, newId(), contactId, LOWEST_ID],
    );
    return row!;
  }

  /** Lists erasures with a due step on a database server, after a position; `next` is null after the last. */
  findDue(after: DuePosition, server: WorkspaceServer): Promise<DueStep<ContactErasureKey>> {
    return searchDue<ContactErasureKey>(
      server,
      after,
      `SELECT tenant_id AS "tenantId", id, due_at::text AS "dueAt" FROM contact_erasures
       WHERE status <> 'COMPLETED' AND due_at <= now() AND due_at >= $1::timestamptz
       ORDER BY due_at LIMIT ${DUE_ROWS} OFFSET $2`,
    );
  }

  /** Locks an erasure whose next step is due; null if another process has locked it or made this step. */
  async lockDue(tx: Transaction, { tenantId, id }: ContactErasureKey): Promise<ContactErasure | null> {
    const [row] = await tx.query<ContactErasure>(
      `${SELECT_ERASURE}
       WHERE tenant_id = $1 AND id = $2 AND status <> 'COMPLETED' AND due_at <= now() FOR UPDATE SKIP LOCKED`,
      [tenantId, id],
    );
    return row ?? null;
  }

  async advance(tx: Transaction, erasure: ContactErasure): Promise<void> {
    const { tenantId, id, status, messages, conversationId, messageId, dueAt, finishedAt } = erasure;
    await tx.query(
      `UPDATE contact_erasures
       SET status = $3, messages = $4, cursor_conversation_id = $5, cursor_message_id = $6, due_at = $7,
           finished_at = $8
       WHERE tenant_id = $1 AND id = $2`,
      [tenantId, id, status, messages, conversationId, messageId, dueAt, finishedAt],
    );
  }
}
