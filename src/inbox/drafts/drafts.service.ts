import { Injectable } from '@nestjs/common';
import { requireAgent, requirePermission, requireReadPermission } from '../../access/require-permission';
import { AppError } from '../../common/app-error';
import { Actor, agentOf } from '../../access/principal';
import { validate } from '../../common/validate';
import { ConversationsRepository } from '../../conversations/conversations.repository';
import { Database } from '../../database/database';
import { DraftResponse, DraftSummary, SaveDraft } from './draft.dto';
import { DraftsRepository } from './drafts.repository';

const NO_DRAFT: DraftResponse = { body: '', updatedAt: null };

/**
 * Stores replies that agents have begun: one for each agent and conversation, at most 200 for each agent. A
 * draft ends when it is sent, or 30 days after its last change. No other agent can read it.
 */
@Injectable()
export class DraftsService {
  constructor(
    private readonly database: Database,
    private readonly drafts: DraftsRepository,
    private readonly conversations: ConversationsRepository,
  ) {}

  /**
   * Returns the actor's draft in a conversation; an empty draft if there is none.
   * @throws AppError FORBIDDEN, NOT_FOUND
   */
  async get(tenantId: string, conversationId: string, actor: Actor): Promise<DraftResponse> {
    await requireReadPermission(this.database, tenantId, actor, 'draft.read');
    if (!(await this.conversations.exists(tenantId, conversationId))) throw AppError.notFound('Conversation');
    const agentId = agentOf(actor);
    if (agentId === null) return NO_DRAFT;
    return (await this.drafts.find({ tenantId, agentId, conversationId })) ?? NO_DRAFT;
  }

  /**
   * Lists up to 200 conversations in which the actor has a draft, latest change first.
   * @throws AppError FORBIDDEN
   */
  async list(tenantId: string, actor: Actor): Promise<DraftSummary[]> {
    await requireReadPermission(this.database, tenantId, actor, 'draft.read');
    const agentId = agentOf(actor);
    return agentId === null ? [] : this.drafts.list({ tenantId, agentId });
  }

  /**
   * Replaces the actor's draft in a conversation: up to 10,000 characters. A blank text deletes it. If
   * another device has saved the draft since `basedOn`, the stored draft stays if it is later than
   * `editedAt`.
   * @returns the draft that is stored after the call
   * @throws AppError INVALID_BODY (the body; an actor who is no agent), FORBIDDEN, NOT_FOUND
   */
  async save(
    tenantId: string,
    conversationId: string,
    input: SaveDraft,
    actor: Actor,
  ): Promise<DraftResponse> {
    const { body, editedAt = new Date(), basedOn } = validate(SaveDraft, input);
    return this.database.transaction(async (tx) => {
      await requirePermission(tx, tenantId, actor, 'draft.save');
      const key = { tenantId, agentId: requireAgent(actor), conversationId };
      if (!(await this.conversations.exists(tenantId, conversationId, tx)))
        throw AppError.notFound('Conversation');
      const kept = await this.drafts.lock(tx, key);
      if (kept && kept.updatedAt > editedAt && kept.updatedAt.getTime() !== basedOn?.getTime())
        return { body: kept.body, updatedAt: kept.updatedAt };
      if (body.trim() === '') {
        await this.drafts.delete(tx, key);
        return NO_DRAFT;
      }
      const updatedAt = new Date();
      await this.drafts.save(tx, { ...key, body, updatedAt });
      if (!kept) await this.drafts.deleteExcess(tx, key);
      return { body, updatedAt };
    });
  }
}
