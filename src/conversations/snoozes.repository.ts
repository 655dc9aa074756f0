import { Injectable } from '@nestjs/common';
import { LOWEST_ID } from '../common/ids';
import { WorkspaceServer } from '../database/placement/placement';
import { Transaction } from '../database/transaction';
import { ConversationEntity } from './conversation.entity';
import { SELECT_CONVERSATION } from './conversations.repository';

/** Number of conversations that one step of the search over all workspaces reads. */
const STEP_ROWS = 1_000;

/** Position in the search over all workspaces: a time at which snoozes end, and a workspace. */
type Position = [endsAt: Date, tenantId: string];
export const BEFORE_ALL_SNOOZES: Position = [new Date(0), LOWEST_ID];

/** Snoozes of a workspace that are due: those behind a position that end no later than a moment. */
export interface DueSnoozes {
  tenantId: string;
  after: { endsAt: Date; id: string };
  /** The present, by the database's clock. */
  now: Date;
}

export type SnoozedConversation = ConversationEntity & { snoozedUntil: Date };

/** Finds the conversations whose snooze has ended. */
@Injectable()
export class SnoozesRepository {
  /**
   * Makes a step of a search of a server for workspaces with due snoozes. It locks nothing. The next step
   * passes over all that ends at the same moment in the workspace that the step has read last.
   * @returns where the next step begins; null after the last
   */
  async findDue(
    after: Position,
    server: WorkspaceServer,
  ): Promise<{ due: DueSnoozes[]; next: Position | null }> {
    const rows = await server.search<{ tenantId: string; endsAt: Date; now: Date }>(
      `SELECT tenant_id AS "tenantId", snoozed_until AS "endsAt", now() AS now FROM conversations
       WHERE status = 'SNOOZED' AND snoozed_until <= now() AND (snoozed_until, tenant_id) > ($1, $2)
       ORDER BY snoozed_until, tenant_id LIMIT ${STEP_ROWS}`,
      after,
      { order: ({ tenantId, endsAt }) => [endsAt, tenantId], limit: STEP_ROWS, times: ['endsAt', 'now'] },
    );
    const last = rows.at(-1);
    return {
      due: rows.map(({ tenantId, endsAt, now }) => ({ tenantId, after: { endsAt, id: LOWEST_ID }, now })),
      next: rows.length === STEP_ROWS ? [last!.endsAt, last!.tenantId] : null,
    };
  }

  /**
   * Locks the next conversation whose snooze is due, as `ConversationsRepository.lock` does. It passes over
   * those that another transaction has locked.
   */
  async lockNext(tx: Transaction, { tenantId, after, now }: DueSnoozes): Promise<SnoozedConversation | null> {
    const [row] = await tx.prepared<SnoozedConversation>(
      `${SELECT_CONVERSATION}
       WHERE tenant_id = $1 AND status = 'SNOOZED' AND snoozed_until <= $2 AND (snoozed_until, id) > ($3, $4)
       ORDER BY snoozed_until, id LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED`,
      [tenantId, now, after.endsAt, after.id],
    );
    return row ?? null;
  }
}
