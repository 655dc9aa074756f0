import { Injectable } from '@nestjs/common';
import { idFloor } from '../../common/ids';
import { WorkspaceServer } from '../../database/placement/placement';

/** Number of rows that a search finds at most. */
export const STEP_ROWS = 1_000;
/** Age in milliseconds from which a reply whose delivery is unknown opens an alert. */
const UNKNOWN_FOR_MS = 15 * 60_000;

/** SQL condition of replies whose delivery is unknown and that are not dismissed. The index has it too. */
const IS_UNKNOWN = `delivery_status = 'UNKNOWN' AND dismissed_at IS NULL AND body <> ''`;

export interface WaitingReply {
  tenantId: string;
  conversationId: string;
  id: string;
}

export type SettledAlert = Omit<WaitingReply, 'id'>;

/** Position in the order of open alerts: their workspace and conversation. */
export type AlertPosition = [tenantId: string, conversationId: string];

/** Finds replies whose delivery stays unknown, and open alerts about such replies that are over. */
@Injectable()
export class UnknownRepliesRepository {
  /** Finds up to 1,000 replies whose conversations have no open alert, in the order of their ids. */
  find(afterId: string, server: WorkspaceServer): Promise<WaitingReply[]> {
    return server.search<WaitingReply>(
      `SELECT m.tenant_id AS "tenantId", m.conversation_id AS "conversationId", m.id
       FROM messages m
       WHERE m.id > $1 AND m.id < $2 AND ${IS_UNKNOWN} AND NOT EXISTS (
         SELECT FROM alerts a WHERE a.tenant_id = m.tenant_id AND a.kind = 'REPLY_UNKNOWN'
           AND a.subject_id = m.conversation_id AND a.resolved_at IS NULL)
       ORDER BY m.id LIMIT ${STEP_ROWS}`,
      [afterId, idFloor(new Date(Date.now() - UNKNOWN_FOR_MS))],
      { order: ({ id }) => [id], limit: STEP_ROWS },
    );
  }

  /** Finds up to 1,000 open alerts whose conversations have no such reply, in the order of their keys. */
  findSettled(after: AlertPosition, server: WorkspaceServer): Promise<SettledAlert[]> {
    return server.search<SettledAlert>(
      `SELECT a.tenant_id AS "tenantId", a.subject_id AS "conversationId"
       FROM alerts a
       WHERE a.kind = 'REPLY_UNKNOWN' AND a.resolved_at IS NULL AND (a.tenant_id, a.subject_id) > ($1, $2)
         AND NOT EXISTS (
           SELECT FROM messages m WHERE m.tenant_id = a.tenant_id AND m.conversation_id = a.subject_id AND ${IS_UNKNOWN})
       ORDER BY a.tenant_id, a.subject_id LIMIT ${STEP_ROWS}`,
      after,
      { order: (row) => [row.tenantId, row.conversationId], limit: STEP_ROWS },
    );
  }
}
