import { Injectable } from '@nestjs/common';
import { requireAgent, requirePermission, requireReadPermission } from '../../access/require-permission';
import { AuditService } from '../../audit/audit.service';
import { AppError } from '../../common/app-error';
import { isId, newId } from '../../common/ids';
import { Page, PageQuery, toPage } from '../../common/page';
import { Actor, agentOf } from '../../access/principal';
import { validate } from '../../common/validate';
import { ConversationsRepository } from '../../conversations/conversations.repository';
import { Database } from '../../database/database';
import { Transaction } from '../../database/transaction';
import { IdempotencyService } from '../../idempotency/idempotency.service';
import { IdempotentRequest } from '../../idempotency/idempotent-request';
import { CreateNote, NoteResponse } from './note.dto';
import { Note, NotesRepository } from './notes.repository';

/** Stores the notes that agents write for each other. No customer, API key or channel receives them. */
@Injectable()
export class NotesService {
  constructor(
    private readonly database: Database,
    private readonly notes: NotesRepository,
    private readonly conversations: ConversationsRepository,
    private readonly idempotency: IdempotencyService,
    private readonly audit: AuditService,
  ) {}

  /**
   * Returns a page of a conversation's notes, newest first: 50 by default, 200 at most.
   * @throws AppError INVALID_QUERY, FORBIDDEN, NOT_FOUND
   */
  async list(
    tenantId: string,
    conversationId: string,
    input: Partial<PageQuery>,
    actor: Actor,
  ): Promise<Page<NoteResponse>> {
    const { cursor, limit } = validate(PageQuery, input, 'INVALID_QUERY');
    await requireReadPermission(this.database, tenantId, actor, 'note.read');
    if (!isId(conversationId)) throw AppError.notFound('Conversation');
    const rows = await this.notes.list({ tenantId, conversationId }, cursor, limit + 1);
    // The look-up is needed only for an empty page, because a conversation that has notes exists.
    if (rows.length === 0 && !(await this.conversations.exists(tenantId, conversationId)))
      throw AppError.notFound('Conversation');
    return toPage(rows, limit, (note) => note);
  }

  /**
   * Adds a note of 1 to 4,096 characters to a conversation; the actor, an agent, is its author. Neither the
   * conversation nor its place in lists changes. The event of the audit entry notifies open inboxes.
   * @throws AppError INVALID_BODY (the body; an actor who is no agent), FORBIDDEN, NOT_FOUND,
   *   IDEMPOTENCY_CONFLICT
   */
  async create(
    tenantId: string,
    conversationId: string,
    input: CreateNote,
    actor: Actor,
    request: IdempotentRequest | null = null,
  ): Promise<NoteResponse> {
    const { body } = validate(CreateNote, input);
    return this.database.transaction(async (tx) => {
      await requirePermission(tx, tenantId, actor, 'note.create');
      const authorAgentId = requireAgent(actor);
      return this.idempotency.once(tx, { tenantId, conversationId }, request, async () => {
        if (!(await this.conversations.lock(tx, tenantId, conversationId)))
          throw AppError.notFound('Conversation');
        const note = { id: newId(), authorAgentId, body, createdAt: new Date() };
        const stored = { tenantId, conversationId, ...note };
        await this.notes.insert(tx, stored);
        // An erasure finds the note by the id of this audit entry.
        this.recordPipelined(tx, stored, actor, 'conversation.note_created', note.id);
        return note;
      });
    });
  }

  /**
   * Deletes a note. An agent may delete its own notes, an OWNER or ADMIN any note.
   * @throws AppError FORBIDDEN, NOT_FOUND
   */
  async delete(tenantId: string, id: string, actor: Actor): Promise<void> {
    await this.database.transaction(async (tx) => {
      await requirePermission(tx, tenantId, actor, 'note.delete');
      const note = await this.notes.lock(tx, tenantId, id);
      if (!note) throw AppError.notFound('Note');
      if (note.authorAgentId !== agentOf(actor))
        await requirePermission(tx, tenantId, actor, 'note.delete_others');
      await this.notes.delete(tx, note);
      this.recordPipelined(tx, note, actor, 'conversation.note_deleted', newId());
    });
  }

  /**
   * Appends an audit entry that does not contain the note's text. The event of this entry has the
   * conversation's id, so that pages that show the conversation learn that its notes have changed.
   */
  private recordPipelined(
    tx: Transaction,
    { tenantId, id: noteId, conversationId }: Note,
    actor: Actor,
    action: string,
    entryId: string,
  ): void {
    const subject = { tenantId, actor, entity: 'conversation', entityId: conversationId };
    this.audit.appendPipelined(tx, { ...subject, action, metadata: { noteId, conversationId } }, entryId);
  }
}
