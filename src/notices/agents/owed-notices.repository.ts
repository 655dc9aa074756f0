import { Injectable } from '@nestjs/common';
import { groupBy } from '../../common/group-by';
import { LOWEST_ID } from '../../common/ids';
import { Database } from '../../database/database';
import { Batch, listsOf, workspaceOf, writtenOnce } from '../../database/key-list';
import { isSuspended } from '../../workspaces/suspension';
import { IS_OVER, NoticeRecipient, OwedNotice } from './agent-notices.repository';
import { STEP_AGENTS } from './notice-choices.repository';

/** Largest number of conversations of which one search makes notices to a recipient. */
export const MAX_OF_RECIPIENT = 50;

/** Notices that a recipient wants, of messages and assignments with ids above `since`, up to `until`. */
export interface Wish extends NoticeRecipient {
  mine: boolean;
  nobodys: boolean;
  assignments: boolean;
  since: string;
  until: string;
}

const COLUMNS = 'c.id, c.status, c.assigned_agent_id, c.last_message_id, c.waiting_message_id';

/** SQL condition that a customer waits in a conversation `c` whose messages the recipient `wish` wants. */
const IS_WANTED = `c.waiting_message_id IS NOT NULL
  AND (wish.mine AND c.assigned_agent_id = wish.agent_id OR wish.nobodys AND c.assigned_agent_id IS NULL)`;

/**
 * SQL that finds the notices that recipients are owed. It reads, each by an index and only in the stretch of
 * time of each recipient, the customers who have waited long enough, the newest messages, because the agent
 * may have looked before them, and the audit log's assignments, because a conversation has no time of its
 * assignment. So neither a message nor an assignment costs a statement more.
 */
const findIn = writtenOnce((batch: Batch) => {
  const tenantId = workspaceOf('wish', '$1', batch);
  return `
    SELECT wish.tenant_id AS "tenantId", wish.agent_id AS "agentId", wish.way, owed.*
    FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::boolean[], $5::boolean[], $6::boolean[], $7::uuid[], $8::uuid[])
      AS wish (tenant_id, agent_id, way, mine, nobodys, assignments, since, until)
    CROSS JOIN LATERAL (
      SELECT c.id AS "conversationId", c.matter, coalesce(c.entry_id, c.last_message_id) AS "subjectId",
        n.id AS "formerId"
      FROM (
        SELECT ${COLUMNS}, NULL::uuid AS entry_id,
          CASE WHEN c.assigned_agent_id IS NULL THEN 'NOBODYS' ELSE 'MINE' END AS matter
        FROM conversations c
        WHERE c.tenant_id = ${tenantId} AND c.waiting_message_id > wish.since AND c.waiting_message_id <= wish.until
          AND ${IS_WANTED}
        UNION
        SELECT ${COLUMNS}, NULL::uuid, CASE WHEN c.assigned_agent_id IS NULL THEN 'NOBODYS' ELSE 'MINE' END
        FROM conversations c
        WHERE c.tenant_id = ${tenantId} AND c.status = 'OPEN' AND coalesce(c.last_message_id, c.id) > wish.since
          AND coalesce(c.last_message_id, c.id) <= wish.until AND ${IS_WANTED}
        UNION
        SELECT ${COLUMNS},
          CASE WHEN wish.assignments AND c.assigned_agent_id IS NOT NULL THEN e.id END,
          CASE WHEN c.assigned_agent_id IS NULL THEN 'NOBODYS' WHEN wish.assignments THEN 'ASSIGNMENT'
            ELSE 'MINE' END
        FROM audit_entries e
        JOIN conversations c ON c.tenant_id = ${tenantId} AND c.id = e.entity_id::uuid AND c.status = 'OPEN'
        WHERE e.tenant_id = ${tenantId} AND e.action = 'conversation.assigned'
          AND e.id > wish.since AND e.id <= wish.until AND e.actor_id IS DISTINCT FROM wish.agent_id
          AND e.after->>'assignedAgentId' IS NOT DISTINCT FROM c.assigned_agent_id::text
          AND (wish.assignments AND c.assigned_agent_id = wish.agent_id OR ${IS_WANTED})
      ) AS c
      LEFT JOIN LATERAL (
        SELECT message_id, is_unread FROM read_marks
        WHERE tenant_id = ${tenantId} AND agent_id = wish.agent_id AND conversation_id = c.id LIMIT 1
      ) AS r ON true
      LEFT JOIN LATERAL (
        SELECT id, matter, agent_id, subject_id FROM agent_notices
        WHERE tenant_id = ${tenantId} AND conversation_id = c.id AND agent_id = wish.agent_id AND way = wish.way LIMIT 1
      ) AS n ON true
      WHERE CASE c.matter WHEN 'ASSIGNMENT' THEN r.is_unread
          ELSE coalesce(r.message_id, '${LOWEST_ID}') < c.last_message_id END
        AND (n.id IS NULL OR ${IS_OVER})
      ORDER BY "subjectId" LIMIT ${MAX_OF_RECIPIENT}
    ) AS owed
    WHERE NOT ${isSuspended(tenantId)}`;
});

@Injectable()
export class OwedNoticesRepository {
  constructor(private readonly database: Database) {}

  /** Finds up to 50 notices of each wish, of each batch of wishes, and returns lists of equal recipients. */
  async find(wishes: Wish[]): Promise<OwedNotice[][]> {
    const found: OwedNotice[] = [];
    for (const batch of this.database.batchesOf(wishes, STEP_AGENTS))
      found.push(
        ...(await this.database.query<OwedNotice>(
          findIn(this.database),
          listsOf(batch, 'tenantId', 'agentId', 'way', 'mine', 'nobodys', 'assignments', 'since', 'until'),
        )),
      );
    return [...groupBy(found, ({ tenantId, agentId, way }) => `${tenantId} ${agentId} ${way}`).values()];
  }
}
