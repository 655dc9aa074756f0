import { Injectable } from '@nestjs/common';
import { idTime } from '../../common/ids';
import { Database } from '../../database/database';
import { Pipelined, Transaction } from '../../database/transaction';
import { AgentKey, ConversationKey, ErasedMessages } from '../../database/tables/table-declaration';
import { DraftResponse, DraftSummary, MAX_DRAFTS } from './draft.dto';
import { withoutQuotes } from './quotes';

type DraftKey = AgentKey & ConversationKey;

type Draft = DraftKey & { body: string; updatedAt: Date };

const BY_KEY = 'tenant_id = $1 AND agent_id = $2 AND conversation_id = $3';
const SELECT_DRAFT = `SELECT body, updated_at AS "updatedAt" FROM drafts WHERE ${BY_KEY}`;

@Injectable()
export class DraftsRepository {
  constructor(private readonly database: Database) {}

  async find({ tenantId, agentId, conversationId }: DraftKey): Promise<DraftResponse | null> {
    const [row] = await this.database.query<DraftResponse>(SELECT_DRAFT, [tenantId, agentId, conversationId]);
    return row ?? null;
  }

  async lock(
    tx: Transaction,
    { tenantId, agentId, conversationId }: DraftKey,
  ): Promise<Pick<Draft, 'body' | 'updatedAt'> | null> {
    const [row] = await tx.query<Pick<Draft, 'body' | 'updatedAt'>>(`${SELECT_DRAFT} FOR UPDATE`, [
      tenantId,
      agentId,
      conversationId,
    ]);
    return row ?? null;
  }

  list({ tenantId, agentId }: AgentKey): Promise<DraftSummary[]> {
    return this.database.query<DraftSummary>(
      `SELECT conversation_id AS "conversationId", updated_at AS "updatedAt" FROM drafts
       WHERE tenant_id = $1 AND agent_id = $2 ORDER BY updated_at DESC LIMIT ${MAX_DRAFTS}`,
      [tenantId, agentId],
    );
  }

  async save(tx: Transaction, draft: Draft): Promise<void> {
    const { tenantId, agentId, conversationId, body, updatedAt } = draft;
    await tx.query(
      `INSERT INTO drafts (tenant_id, agent_id, conversation_id, body, updated_at) VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT (tenant_id, agent_id, conversation_id)
       DO UPDATE SET body = excluded.body, updated_at = excluded.updated_at`,
      [tenantId, agentId, conversationId, body, updatedAt],
    );
  }

  async deleteExcess(tx: Transaction, { tenantId, agentId }: AgentKey): Promise<void> {
    await tx.query(
      `DELETE FROM drafts WHERE tenant_id = $1 AND agent_id = $2 AND conversation_id = ANY (ARRAY(
         SELECT conversation_id FROM drafts WHERE tenant_id = $1 AND agent_id = $2
         ORDER BY updated_at DESC OFFSET ${MAX_DRAFTS}))`,
      [tenantId, agentId],
    );
  }

  async delete(tx: Transaction, { tenantId, agentId, conversationId }: DraftKey): Promise<void> {
    await tx.query(`DELETE FROM drafts WHERE ${BY_KEY}`, [tenantId, agentId, conversationId]);
  }

  /** Deletes a draft if the sent text begins with it. Otherwise it is for another message, and stays. */
  deleteSentPipelined(
    tx: Transaction,
    { tenantId, agentId, conversationId }: DraftKey,
    sent: string,
  ): Pipelined {
    return tx.pipeline(
      `DELETE FROM drafts WHERE ${BY_KEY}
         AND starts_with($4, btrim(body, E' \\t\\r\\n'))`,
      [tenantId, agentId, conversationId, sent.trim()],
    );
  }

  async deleteByAgent(tx: Transaction, { tenantId, agentId }: AgentKey): Promise<void> {
    await tx.query('DELETE FROM drafts WHERE tenant_id = $1 AND agent_id = $2', [tenantId, agentId]);
  }

  /** Removes quotes of a message that the customer has taken back from the drafts in a conversation. */
  private async eraseQuotes(
    tx: Transaction,
    { tenantId, conversationId }: ConversationKey,
    texts: string[],
  ): Promise<void> {
    const drafts = await tx.query<{ agentId: string; body: string }>(
      `SELECT agent_id AS "agentId", body FROM drafts
       WHERE tenant_id = $1 AND conversation_id = $2 ORDER BY agent_id FOR NO KEY UPDATE`,
      [tenantId, conversationId],
    );
    for (const { agentId, body } of drafts) {
      const left = withoutQuotes(body, texts);
      if (left.trim() === '') await this.delete(tx, { tenantId, agentId, conversationId });
      else if (left !== body)
        await tx.query(
          'UPDATE drafts SET body = $4 WHERE tenant_id = $1 AND conversation_id = $2 AND agent_id = $3',
          [tenantId, conversationId, agentId, left],
        );
    }
  }

  /**
   * Deletes the drafts in a conversation that may contain erased texts. These are all drafts if the contact
   * is erased, or else those that were last changed before the newest erased event. If a customer has unsent
   * a message, only quotes of its texts are removed from the drafts.
   */
  async erase(tx: Transaction, erased: ErasedMessages): Promise<void> {
    if (erased.unsent) return this.eraseQuotes(tx, erased, erased.unsent);
    const { tenantId, conversationId, eventIds, withContact } = erased;
    const last = eventIds.at(-1);
    const until = withContact || last === undefined ? null : idTime(last);
    await tx.query(
      `DELETE FROM drafts
       WHERE tenant_id = $1 AND conversation_id = $2 AND ($3::timestamptz IS NULL OR updated_at <= $3)`,
      [tenantId, conversationId, until],
    );
  }
}
