import { Injectable } from '@nestjs/common';
import { isId, LOWEST_ID, newId } from '../common/ids';
import { Database, Reader } from '../database/database';
import { ContactKey } from '../database/tables/table-declaration';
import { WorkspaceServer } from '../database/placement/placement';
import { Transaction } from '../database/transaction';
import { DuePosition, positionAfter } from '../queue/polling/due-position';

/** Progress of one erasure, so that any worker can continue it. */
export interface ContactErasure {
  tenantId: string;
  id: string;
  contactId: string;
  /**
   * State of the erasure. RUNNING: everything is being erased. SETTLING: everything is erased; a few minutes
   * later, copies that were written during the erasure are looked for once more.
   */
  status: 'RUNNING' | 'SETTLING' | 'COMPLETED';
  /** Number of messages erased so far. */
  messages: number;
  /** Id of the conversation whose messages are being erased. All conversations before it are done. */
  conversationId: string;
  /** Id of the last message of `conversationId` that is done. */
  messageId: string;
  /** Time from which the next step may begin. */
  dueAt: Date;
  createdAt: Date;
  finishedAt: Date | null;
}

/** Names an erasure. */
export type ContactErasureKey = Pick<ContactErasure, 'tenantId' | 'id'>;

/** Number of erasures that one step of the search over all workspaces reads. */
const STEP_ROWS = 1_000;

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

  /** Stores a new erasure, whose first step may begin at once. */
  async insert(tx: Transaction, { tenantId, contactId }: ContactKey): Promise<ContactErasure> {
    const [row] = await tx.query<ContactErasure>(
      `INSERT INTO contact_erasures (tenant_id, id, contact_id, status, messages, cursor_conversation_id,
         cursor_message_id, due_at, created_at)
       VALUES ($1, $2, $3, 'RUNNING', 0, $4, $4, now(), now()) RETURNING ${COLUMNS}`,
      [tenantId, newId(), contactId, LOWEST_ID],
    );
    return row!;
  }

  /** Makes a step of a search of a server for erasures whose next step may begin, the longest due first. */
  async findDue(
    after: DuePosition,
    server: WorkspaceServer,
  ): Promise<{ items: ContactErasureKey[]; next: DuePosition | null }> {
    const rows = await server.search<ContactErasureKey & { dueAt: string }>(
      `SELECT tenant_id AS "tenantId", id, due_at::text AS "dueAt" FROM contact_erasures
       WHERE status <> 'COMPLETED' AND due_at <= now() AND due_at >= $1::timestamptz
       ORDER BY due_at LIMIT ${STEP_ROWS} OFFSET $2`,
      after,
      { order: ({ dueAt }) => [dueAt], limit: STEP_ROWS },
    );
    return {
      items: rows.map(({ tenantId, id }) => ({ tenantId, id })),
      next: positionAfter(rows, after, STEP_ROWS),
    };
  }

  /**
   * Locks an erasure whose next step may begin. It returns null when another process has the erasure, or has
   * done that step.
   */
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
