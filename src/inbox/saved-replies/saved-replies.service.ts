import { Injectable } from '@nestjs/common';
import { requirePermission, requireReadPermission } from '../../access/require-permission';
import { AuditRecord, AuditService } from '../../audit/audit.service';
import { changedValues, describeText, valuesOf } from '../../audit/changed-values';
import { AppError } from '../../common/app-error';
import { newId } from '../../common/ids';
import { Actor } from '../../access/principal';
import { validate } from '../../common/validate';
import { Database } from '../../database/database';
import { Transaction } from '../../database/transaction';
import { WorkspacesRepository } from '../../workspaces/workspaces.repository';
import { CreateSavedReply, MAX_SAVED_REPLIES, SavedReplyResponse, UpdateSavedReply } from './saved-reply.dto';
import { SavedRepliesRepository } from './saved-replies.repository';
import { findUnknownVariable, SAVED_REPLY_VARIABLES } from './variables';

const AUDITED = ['name', 'body'] as const;

/** Stores a workspace's saved replies: texts with variables that agents insert into messages. */
@Injectable()
export class SavedRepliesService {
  constructor(
    private readonly database: Database,
    private readonly replies: SavedRepliesRepository,
    private readonly workspaces: WorkspacesRepository,
    private readonly audit: AuditService,
  ) {}

  /**
   * Lists a workspace's saved replies by name, at most 200.
   * @throws AppError FORBIDDEN
   */
  async list(tenantId: string, actor: Actor): Promise<SavedReplyResponse[]> {
    await requireReadPermission(this.database, tenantId, actor, 'saved_reply.read');
    return this.replies.list(tenantId);
  }

  /**
   * Creates a saved reply.
   * @throws AppError INVALID_BODY (also a name that is taken, and an unknown variable), FORBIDDEN, NOT_FOUND
   *   (the workspace), CONFLICT (the workspace has 200)
   */
  async create(tenantId: string, input: CreateSavedReply, actor: Actor): Promise<SavedReplyResponse> {
    const { name, body } = validate(CreateSavedReply, input);
    return this.database.transaction(async (tx) => {
      await this.workspaces.lock(tx, tenantId);
      await requirePermission(tx, tenantId, actor, 'saved_reply.create');
      if ((await this.replies.count(tx, tenantId)) >= MAX_SAVED_REPLIES)
        throw AppError.because('CONFLICT', 'too_many_saved_replies', { max: MAX_SAVED_REPLIES });
      const now = new Date();
      const reply = { id: newId(), name: name.trim(), body, createdAt: now, updatedAt: now };
      await this.requireValid(tx, tenantId, reply);
      await this.replies.save(tx, tenantId, reply);
      const subject = { tenantId, actor, entityId: reply.id };
      this.recordPipelined(tx, subject, 'created', { after: valuesOf(audited(reply), AUDITED) });
      return reply;
    });
  }

  /**
   * Changes a saved reply's name or text. Equal values change nothing.
   * @throws AppError INVALID_BODY (also a name that is taken, and an unknown variable), FORBIDDEN, NOT_FOUND
   */
  async update(
    tenantId: string,
    id: string,
    input: UpdateSavedReply,
    actor: Actor,
  ): Promise<SavedReplyResponse> {
    const { name, body } = validate(UpdateSavedReply, input);
    return this.database.transaction(async (tx) => {
      await this.workspaces.lock(tx, tenantId);
      await requirePermission(tx, tenantId, actor, 'saved_reply.update');
      const before = await this.lock(tx, tenantId, id);
      const after = { ...before, name: name?.trim() ?? before.name, body: body ?? before.body };
      const changed = changedValues(audited(before), audited(after), AUDITED);
      if (!changed) return before;
      await this.requireValid(tx, tenantId, after);
      const updated = { ...after, updatedAt: new Date() };
      await this.replies.save(tx, tenantId, updated);
      this.recordPipelined(tx, { tenantId, actor, entityId: id }, 'updated', changed);
      return updated;
    });
  }

  /**
   * Deletes a saved reply. Messages that were written with it do not change.
   * @throws AppError FORBIDDEN, NOT_FOUND
   */
  async delete(tenantId: string, id: string, actor: Actor): Promise<void> {
    await this.database.transaction(async (tx) => {
      await requirePermission(tx, tenantId, actor, 'saved_reply.delete');
      const reply = await this.lock(tx, tenantId, id);
      await this.replies.delete(tx, tenantId, id);
      const values = { before: valuesOf(audited(reply), AUDITED) };
      this.recordPipelined(tx, { tenantId, actor, entityId: id }, 'deleted', values);
    });
  }

  private async lock(tx: Transaction, tenantId: string, id: string): Promise<SavedReplyResponse> {
    const reply = await this.replies.lock(tx, tenantId, id);
    if (!reply) throw AppError.notFound('Saved reply');
    return reply;
  }

  /** Refuses an unknown variable, and another reply's name. The caller must have locked the workspace. */
  private async requireValid(
    tx: Transaction,
    tenantId: string,
    { id, name, body }: SavedReplyResponse,
  ): Promise<void> {
    const variable = findUnknownVariable(body);
    if (variable !== undefined)
      throw AppError.invalidBody('body', 'variable_unknown', { variable, choices: SAVED_REPLY_VARIABLES });
    const known = await this.replies.findIdByName(tx, tenantId, name);
    if (known !== null && known !== id) throw AppError.invalidBody('name', 'name_taken');
  }

  private recordPipelined(
    tx: Transaction,
    subject: Pick<AuditRecord, 'tenantId' | 'actor' | 'entityId'>,
    act: 'created' | 'updated' | 'deleted',
    values: Pick<AuditRecord, 'before' | 'after'>,
  ): void {
    const action = `saved_reply.${act}`;
    this.audit.appendPipelined(tx, { ...subject, entity: 'saved_reply', action, ...values });
  }
}

/** Returns the values of a saved reply for the audit log, which may not contain the text itself. */
function audited({ name, body }: SavedReplyResponse) {
  return { name, body: describeText(body) };
}
