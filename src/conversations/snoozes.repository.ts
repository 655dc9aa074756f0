import { Injectable } from '@nestjs/common';
import { LOWEST_ID } from '../common/ids';
import { WorkspaceServer } from '../database/placement/placement';
import { Transaction } from '../database/transaction';
import { ConversationEntity } from './conversation.entity';
import { SELECT_CONVERSATION } from './conversations.repository';

const STEP_ROWS = 1_000;

/** Position in the search for ended snoozes, which are ordered by their ends, and then by workspace. */
type Position = [endsAt: Date, tenantId: string];
export const BEFORE_ALL_SNOOZES: Position = [new Date(0), LOWEST_ID];

interface Snoozed {
  tenantId: string;
  id: string;
}

export type SnoozedConversation = ConversationEntity & { snoozedUntil: Date };

@Injectable()
export class SnoozesRepository {
  /**
   * Finds up to 1,000 conversations of a database server whose snooze has ended. `next` is the position for
   * the next call; null after the last. A call skips snoozes with the same end and workspace as the last one
   * that the previous call returned, so that many such snoozes do not delay other workspaces.
   */
  async findEnded(
    after: Position,
    server: WorkspaceServer,
  ): Promise<{ items: Snoozed[]; next: Position | null }> {
    const rows = await server.search<Snoozed & { endsAt: Date }>(
      `SELECT tenant_id AS "tenantId", id, snoozed_until AS "endsAt" FROM conversations
       WHERE status = 'SNOOZED' AND snoozed_until <= now() AND (snoozed_until, tenant_id) > ($1, $2)
       ORDER BY snoozed_until, tenant_id LIMIT ${STEP_ROWS}`,
      after,
      { order: ({ tenantId, endsAt }) => [endsAt, tenantId], limit: STEP_ROWS, times: ['endsAt'] },
    );
    const last = rows.at(-1);
    return {
      items: rows.map(({ tenantId, id }) => ({ tenantId, id })),
      next: rows.length === STEP_ROWS ? [last!.endsAt, last!.tenantId] : null,
    };
  }

  /** Locks a conversation whose snooze has ended; null if it is no longer snoozed, or is locked already. */
  async lockEnded(tx: Transaction, { tenantId, id }: Snoozed): Promise<SnoozedConversation | null> {
    const [row] = await tx.prepared<SnoozedConversation>(
      `${SELECT_CONVERSATION}
       WHERE tenant_id = $1 AND id = $2 AND status = 'SNOOZED' AND snoozed_until <= now()
       FOR NO KEY UPDATE SKIP LOCKED`,
      [tenantId, id],
    );
    return row ?? null;
  }
}
