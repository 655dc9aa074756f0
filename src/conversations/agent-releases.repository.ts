import { Injectable } from '@nestjs/common';
import { LOWEST_ID } from '../common/ids';
import { WorkspaceServer } from '../database/placement/placement';
import { Transaction } from '../database/transaction';
import { ConversationEntity } from './conversation.entity';
import { SELECT_CONVERSATION } from './conversations.repository';

const STEP_ROWS = 1_000;

/** Deactivated agent whose open and snoozed conversations are not all unassigned yet. */
export interface ReleasingAgent {
  tenantId: string;
  agentId: string;
}

type Position = [tenantId: string, agentId: string];
export const BEFORE_ALL_AGENTS: Position = [LOWEST_ID, LOWEST_ID];

@Injectable()
export class AgentReleasesRepository {
  /**
   * Finds up to 1,000 deactivated agents of a database server whose conversations are not all unassigned.
   * Begins after the position `after`. `next` is the position for the next call; null after the last agent.
   */
  async findReleasing(
    after: Position,
    server: WorkspaceServer,
  ): Promise<{ items: ReleasingAgent[]; next: Position | null }> {
    const items = await server.search<ReleasingAgent>(
      `SELECT tenant_id AS "tenantId", id AS "agentId" FROM agents
       WHERE releases_conversations AND (tenant_id, id) > ($1, $2)
       ORDER BY tenant_id, id LIMIT ${STEP_ROWS}`,
      after,
      { order: ({ tenantId, agentId }) => [tenantId, agentId], limit: STEP_ROWS },
    );
    const last = items.at(-1);
    return { items, next: items.length === STEP_ROWS ? [last!.tenantId, last!.agentId] : null };
  }

  /** Locks an agent's open conversation, or else a snoozed one; skips those that are locked already. */
  async lockNext(tx: Transaction, agent: ReleasingAgent): Promise<ConversationEntity | null> {
    for (const status of ['OPEN', 'SNOOZED']) {
      const [row] = await tx.prepared<ConversationEntity>(
        `${SELECT_CONVERSATION}
         WHERE tenant_id = $1 AND assigned_agent_id = $2 AND status = $3
         ORDER BY coalesce(last_message_id, id) LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED`,
        [agent.tenantId, agent.agentId, status],
      );
      if (row) return row;
    }
    return null;
  }

  /** Reports whether an agent has an open or snoozed conversation, locked or not. */
  async hasAny(tx: Transaction, { tenantId, agentId }: ReleasingAgent): Promise<boolean> {
    const rows = await tx.prepared(
      `SELECT FROM conversations
       WHERE tenant_id = $1 AND assigned_agent_id = $2 AND status = ANY ('{OPEN,SNOOZED}') LIMIT 1`,
      [tenantId, agentId],
    );
    return rows.length > 0;
  }
}
