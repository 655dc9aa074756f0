import { Injectable } from '@nestjs/common';
import { requirePermission, requireReadPermission } from '../../access/require-permission';
import { AuditService } from '../../audit/audit.service';
import { changedValues, describeText, valuesOf } from '../../audit/changed-values';
import { AppError } from '../../common/app-error';
import { newId } from '../../common/ids';
import { Actor } from '../../access/principal';
import { validate } from '../../common/validate';
import { Database } from '../../database/database';
import { Transaction } from '../../database/transaction';
import { WorkspacesRepository } from '../../workspaces/workspaces.repository';
import {
  CreateSavedReply,
  MAX_SAVED_REPLIES,
  SavedReplyResponse,
  toSavedReply,
  UpdateSavedReply,
} from './saved-reply.dto';
import { SavedReplyEntity } from './saved-reply.entity';
import { SavedRepliesRepository } from './saved-replies.repository';
import { findUnknownVariable, SAVED_REPLY_VARIABLES } from './variables';

const AUDITED = ['name', 'body'] as const;

/** Manages the texts that the agents of a workspace use again and again. */
@Injectable()
export class SavedRepliesService {
  constructor(
    private readonly database: Database,
    private readonly replies: SavedRepliesRepository,
    private readonly workspaces: WorkspacesRepository,
    private readonly audit: AuditService,
  ) {}

  /**
   * Lists the saved replies of a workspace by name: 200 at most.
   * @throws AppError FORBIDDEN
   */
  async list(tenantId: string, actor: Actor): Promise<SavedReplyResponse[]> {
    await requireReadPermission(this.database, tenantId, actor, 'saved_reply.read');
    return (await this.replies.list(tenantId)).map(toSavedReply);
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
      const reply = { tenantId, id: newId(), name: name.trim(), body, createdAt: now, updatedAt: now };
      await this.requireValid(tx, reply);
      await this.replies.insert(tx, reply);
      this.recordPipelined(tx, reply, actor, 'created', { after: valuesOf(audited(reply), AUDITED) });
      return toSavedReply(reply);
    });
  }

  /**
   * Changes the name, the text or both. Equal values change nothing.
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
      if (!changed) return toSavedReply(before);
      await this.requireValid(tx, after);
      const updated = { ...after, updatedAt: new Date() };
      await this.replies.update(tx, updated);
      this.recordPipelined(tx, updated, actor, 'updated', changed);
      return toSavedReply(updated);
    });
  }

  /**
   * Deletes a saved reply. What was sent with it stays.
   * @throws AppError FORBIDDEN, NOT_FOUND
   */
  async delete(tenantId: string, id: string, actor: Actor): Promise<void> {
    await this.database.transaction(async (tx) => {
      await requirePermission(tx, tenantId, actor, 'saved_reply.delete');
      const reply = await this.lock(tx, tenantId, id);
      await this.replies.delete(tx, reply);
      this.recordPipelined(tx, reply, actor, 'deleted', { before: valuesOf(audited(reply), AUDITED) });
    });
  }

  private async lock(tx: Transaction, tenantId: string, id: string): Promise<SavedReplyEntity> {
    const reply = await this.replies.lock(tx, tenantId, id);
    if (!reply) throw AppError.notFound('Saved reply');
    return reply;
  }

  /** Refuses an unknown variable, and the name of another saved reply. The workspace is locked. */
  private async requireValid(tx: Transaction, { tenantId, id, name, body }: SavedReplyEntity): Promise<void> {
    const variable = findUnknownVariable(body);
    if (variable !== undefined)
      throw AppError.invalidBody('body', 'variable_unknown', { variable, choices: SAVED_REPLY_VARIABLES });
    const known = await this.replies.findIdByName(tx, tenantId, name);
    if (known !== null && known !== id) throw AppError.invalidBody('name', 'name_taken');
  }

  private recordPipelined(
    tx: Transaction,
    { tenantId, id }: SavedReplyEntity,
    actor: Actor,
    act: 'created' | 'updated' | 'deleted',
    values: { before?: Record<string, unknown>; after?: Record<string, unknown> },
  ): void {
    const subject = { tenantId, actor, entity: 'saved_reply', entityId: id };
    this.audit.appendPipelined(tx, { ...subject, action: `saved_reply.${act}`, ...values });
  }
}

/** Returns what the audit log may keep of a saved reply. */
function audited({ name, body }: SavedReplyEntity) {
  return { name, body: describeText(body) };
}
