import { Injectable } from '@nestjs/common';
import { LOWEST_ID } from '../../common/ids';
import { Database } from '../../database/database';
import { MessageKey } from '../../messages/message-status.repository';
import { Target } from '../../queue/targets';
import { isSuspended } from '../../workspaces/suspension';
import { ConnectionStatus } from '../connections/channel-connection.entity';

/** Limit of the rows of one step of a search over all workspaces. */
const STEP_ROWS = 1_000;

/**
 * Position of a search over all workspaces: a workspace, and a connection or conversation in it. The next
 * step begins after it.
 */
type Position = [tenantId: string, id: string];
export const BEFORE_ALL_MESSAGES: Position = [LOWEST_ID, LOWEST_ID];

/** Condition of a row `d` of outbound_messages whose lease or hold has ended. */
export const HAS_ENDED = `(d.lease_id IS NOT NULL OR d.holds) AND d.next_attempt_at <= now()`;

interface EndedColumns {
  conversationIds: string[] | null;
  messageIds: string[] | null;
}

/**
 * Finds outbound messages that are due or need attention, over all workspaces, in steps of a bounded number
 * of rows.
 */
@Injectable()
export class DueMessagesRepository {
  constructor(private readonly database: Database) {}

  /**
   * Makes a step of a search for the connections of retries, leases and holds whose time came after `since`.
   * @returns the time up to which they were found, those of workspaces that are not suspended, and the
   *   messages whose lease or hold has ended
   */
  async findScheduled(since: Date): Promise<{
    connections: Target[];
    ended: MessageKey[];
    until: Date;
    isLast: boolean;
  }> {
    const rows = await this.database.prepared<
      MessageKey & { id: string; at: Date; hasEnded: boolean; isSuspended: boolean }
    >(
      `SELECT tenant_id AS "tenantId", connection_id AS id, conversation_id AS "conversationId",
              message_id AS "messageId", next_attempt_at AS at, ${HAS_ENDED} AS "hasEnded",
              ${isSuspended('tenant_id')} AS "isSuspended"
       FROM outbound_messages d
       WHERE (attempt_count > 0 OR lease_id IS NOT NULL OR holds) AND next_attempt_at > $1 AND next_attempt_at <= now()
       ORDER BY next_attempt_at LIMIT ${STEP_ROWS}`,
      [since],
    );
    return {
      connections: toTargets(rows.filter((row) => !row.isSuspended)),
      ended: rows.filter(({ hasEnded }) => hasEnded),
      until: rows.at(-1)?.at ?? since,
      isLast: rows.length < STEP_ROWS,
    };
  }

  /**
   * Makes a step of a search for connections with anything due, or that may send no more. The next step
   * passes over the rest of the last connection, however many messages it has.
   * @returns where the next step begins; null after the last
   */
  async findDue(after: Position): Promise<{
    due: Target[];
    inactive: Target[];
    ended: MessageKey[];
    next: Position | null;
  }> {
    const rows = await this.database.prepared<
      Target & EndedColumns & { isDue: boolean; status: ConnectionStatus }
    >(
      `SELECT d.*, w.status FROM (
         SELECT tenant_id AS "tenantId", connection_id AS id,
                bool_or(next_attempt_at <= now() AND NOT waits) AND NOT ${isSuspended('tenant_id')} AS "isDue",
                array_agg(conversation_id) FILTER (WHERE ${HAS_ENDED}) AS "conversationIds",
                array_agg(message_id) FILTER (WHERE ${HAS_ENDED}) AS "messageIds"
         FROM (SELECT * FROM outbound_messages WHERE (tenant_id, connection_id) > ($1, $2)
               ORDER BY tenant_id, connection_id, waits, next_attempt_at LIMIT ${STEP_ROWS}) AS d
         GROUP BY 1, 2) AS d
       JOIN channel_connections w ON w.tenant_id = d."tenantId" AND w.id = d.id ORDER BY 1, 2`,
      after,
    );
    const last = rows.at(-1);
    return {
      due: toTargets(rows.filter(({ isDue }) => isDue)),
      inactive: toTargets(rows.filter(({ status }) => status !== 'ACTIVE')),
      ended: rows.flatMap(({ tenantId, conversationIds, messageIds }) =>
        (messageIds ?? []).map((messageId, n) => ({
          tenantId,
          conversationId: conversationIds![n]!,
          messageId,
        })),
      ),
      next: last ? [last.tenantId, last.id] : null,
    };
  }

  /**
   * Makes a step of a search for conversations of which every message waits: the one before was routed later,
   * and ended before this process could see both. The next step passes over the rest of the last
   * conversation.
   * @returns where the next step begins; null after the last
   */
  async findStuck(after: Position): Promise<{ stuck: Target[]; next: Position | null }> {
    const rows = await this.database.prepared<Target & { allWait: boolean }>(
      `SELECT tenant_id AS "tenantId", conversation_id AS id, bool_and(waits) AS "allWait"
       FROM (SELECT tenant_id, conversation_id, waits FROM outbound_messages WHERE (tenant_id, conversation_id) > ($1, $2)
             ORDER BY tenant_id, conversation_id, message_id LIMIT ${STEP_ROWS}) AS step
       GROUP BY 1, 2 ORDER BY 1, 2`,
      after,
    );
    const last = rows.at(-1);
    return {
      stuck: toTargets(rows.filter(({ allWait }) => allWait)),
      next: last ? [last.tenantId, last.id] : null,
    };
  }
}

function toTargets(rows: Target[]): Target[] {
  return rows.map(({ tenantId, id }) => ({ tenantId, id }));
}
