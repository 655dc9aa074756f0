import { Injectable } from '@nestjs/common';
import { groupBy } from '../../common/group-by';
import { LOWEST_ID } from '../../common/ids';
import { WorkspaceServer } from '../../database/placement/placement';
import { MessageKey } from '../../messages/message-status.repository';
import { QueueFloors } from '../../queue/floors/queue-floors';
import { Target } from '../../queue/targets';
import { isSuspended } from '../../workspaces/suspension';
import { ConnectionStatus } from '../connections/channel-connection.entity';
import { messagesSubQueue } from './outbound-messages.repository';
import { HAS_ENDED } from './queue-conditions';

/** Maximum number of rows that one call of `findScheduled` or `findStuck` reads. */
const STEP_ROWS = 1_000;
/** Maximum number of connections that one call of `findDue` reads. */
const STEP_CONNECTIONS = 1_000;
/** Maximum number of messages that one call of `findDue` reads for each connection. */
const MESSAGES_OF_CONNECTION = 10;

/** Workspace, and connection or conversation in it, after which the next call of a search begins. */
type Position = [tenantId: string, id: string];
export const BEFORE_ALL_MESSAGES: Position = [LOWEST_ID, LOWEST_ID];

const CONNECTION = `status, ${isSuspended('w.tenant_id')} AS "isSuspended", now() AS now`;
const LIST_CONNECTIONS = `
  SELECT tenant_id AS "tenantId", id, ${CONNECTION}
  FROM channel_connections w WHERE (tenant_id, id) > ($1, $2) ORDER BY tenant_id, id LIMIT ${STEP_CONNECTIONS}`;
/**
 * Selects connections with messages in the queue, after workspace $1 and connection $2. The recursion jumps
 * from one connection to the next in the index, so its cost does not depend on the number of messages.
 */
const LIST_QUEUED_CONNECTIONS = `
  WITH RECURSIVE queued AS (
    (SELECT tenant_id, connection_id, 1 AS n FROM outbound_messages WHERE (tenant_id, connection_id) > ($1, $2)
     ORDER BY tenant_id, connection_id LIMIT 1)
    UNION ALL
    SELECT next.*, n + 1 FROM queued, LATERAL (
      SELECT tenant_id, connection_id FROM outbound_messages
      WHERE (tenant_id, connection_id) > (queued.tenant_id, queued.connection_id)
      ORDER BY tenant_id, connection_id LIMIT 1) next
    WHERE n < ${STEP_CONNECTIONS}
  )
  SELECT queued.tenant_id AS "tenantId", connection_id AS id, ${CONNECTION}
  FROM queued JOIN channel_connections w ON w.tenant_id = queued.tenant_id AND w.id = connection_id ORDER BY n`;

/**
 * Selects the oldest messages of each connection (workspaces $1, ids $2) that are due after the connection's
 * time in $3. Leaves out messages that wait for an earlier message of their conversation.
 */
const FIND_OLDEST = `
  SELECT w.tenant_id AS "tenantId", w.id, d.conversation_id AS "conversationId", d.message_id AS "messageId",
    d.next_attempt_at AS at, d.next_attempt_at <= now() AS "isDue", ${HAS_ENDED} AS "hasEnded"
  FROM unnest($1::uuid[], $2::uuid[], $3::timestamptz[]) AS w (tenant_id, id, since), LATERAL (
    SELECT * FROM outbound_messages
    WHERE tenant_id = w.tenant_id AND connection_id = w.id AND NOT waits AND next_attempt_at > w.since
    ORDER BY next_attempt_at, message_id LIMIT ${MESSAGES_OF_CONNECTION}) d`;

interface ConnectionRow extends Target {
  status: ConnectionStatus;
  isSuspended: boolean;
  now: Date;
}

interface OldestMessage extends MessageKey {
  id: string;
  at: Date;
  isDue: boolean;
  hasEnded: boolean;
}

/** Searches all workspaces for messages that need a worker. Each call reads a bounded number of rows. */
@Injectable()
export class DueMessagesRepository {
  constructor(private readonly floors: QueueFloors) {}

  /**
   * Searches a database server for retries, leases and holds (rows that only delay their conversation) whose
   * time came after `since`.
   * @returns `connections`: connections of the rows found, without suspended workspaces; `ended`: messages
   *   whose lease or hold has ended; `until`: time up to which this call has read
   */
  async findScheduled(
    since: Date,
    server: WorkspaceServer,
  ): Promise<{
    connections: Target[];
    ended: MessageKey[];
    until: Date;
    isLast: boolean;
  }> {
    const rows = await server.search<
      MessageKey & { id: string; at: Date; hasEnded: boolean; isSuspended: boolean }
    >(
      `SELECT tenant_id AS "tenantId", connection_id AS id, conversation_id AS "conversationId",
              message_id AS "messageId", next_attempt_at AS at, ${HAS_ENDED} AS "hasEnded",
              ${isSuspended('tenant_id')} AS "isSuspended"
       FROM outbound_messages d
       WHERE (attempt_count > 0 OR lease_id IS NOT NULL OR holds) AND next_attempt_at > $1 AND next_attempt_at <= now()
       ORDER BY next_attempt_at LIMIT ${STEP_ROWS}`,
      [since],
      { order: ({ at }) => [at], limit: STEP_ROWS, times: ['at'] },
    );
    return {
      connections: toTargets(rows.filter((row) => !row.isSuspended)),
      ended: rows.filter(({ hasEnded }) => hasEnded),
      until: rows.at(-1)?.at ?? since,
      isLast: rows.length < STEP_ROWS,
    };
  }

  /**
   * Searches some connections of a database server for due messages. Reads only the oldest messages of each
   * connection, and stores their time as its floor (the time before which claims skip rows).
   * @returns `due`: connections with due messages, without suspended workspaces; `inactive`: connections that
   *   may not send but have messages; `ended`: messages whose lease or hold has ended; `next`: position for
   *   the next call, null if there are no more connections
   */
  async findDue(
    after: Position,
    server: WorkspaceServer,
  ): Promise<{
    due: Target[];
    inactive: Target[];
    ended: MessageKey[];
    next: Position | null;
  }> {
    const list = this.floors.areUsed ? LIST_CONNECTIONS : LIST_QUEUED_CONNECTIONS;
    const connections = await server.search<ConnectionRow>(list, after, {
      order: ({ tenantId, id }) => [tenantId, id],
      limit: STEP_CONNECTIONS,
      times: ['now'],
    });
    const messages = await this.findOldest(connections, server);
    const oldest = new Map<string, OldestMessage>();
    for (const message of messages) if (!oldest.has(message.id)) oldest.set(message.id, message);
    // `now` was read before the messages, so a message that appears later is due after the stored time.
    for (const { tenantId, id, now } of connections) {
      const at = oldest.get(id)?.at ?? now;
      this.floors.update(messagesSubQueue(tenantId, id), at < now ? at : now);
    }
    const last = connections.at(-1);
    return {
      due: toTargets(
        connections.filter(({ id, isSuspended }) => !isSuspended && oldest.get(id)?.isDue === true),
      ),
      inactive: toTargets(connections.filter(({ id, status }) => status !== 'ACTIVE' && oldest.has(id))),
      ended: messages.filter(({ hasEnded }) => hasEnded),
      next: connections.length === STEP_CONNECTIONS ? [last!.tenantId, last!.id] : null,
    };
  }

  /**
   * Searches for conversations in which every message waits for an earlier one. This happens if a message was
   * enqueued late, and ended before the transaction of the next message could see it.
   * @returns `next`: position for the next call, null if there are no more rows
   */
  async findStuck(
    after: Position,
    server: WorkspaceServer,
  ): Promise<{ stuck: Target[]; next: Position | null }> {
    const rows = await server.search<Target & { waits: boolean }>(
      `SELECT tenant_id AS "tenantId", conversation_id AS id, waits
       FROM outbound_messages WHERE (tenant_id, conversation_id) > ($1, $2)
       ORDER BY tenant_id, conversation_id, message_id LIMIT ${STEP_ROWS}`,
      after,
      { order: ({ tenantId, id }) => [tenantId, id], limit: STEP_ROWS },
    );
    const conversations = [...groupBy(rows, ({ tenantId, id }) => tenantId + id).values()];
    const last = rows.at(-1);
    return {
      stuck: toTargets(
        conversations.filter((messages) => messages.every(({ waits }) => waits)).map(([first]) => first!),
      ),
      next: last ? [last.tenantId, last.id] : null,
    };
  }

  private async findOldest(connections: Target[], server: WorkspaceServer): Promise<OldestMessage[]> {
    if (connections.length === 0) return [];
    return server.search<OldestMessage>(
      FIND_OLDEST,
      [
        connections.map(({ tenantId }) => tenantId),
        connections.map(({ id }) => id),
        connections.map(({ tenantId, id }) => this.floors.startOfSearch(messagesSubQueue(tenantId, id))),
      ],
      { order: ({ tenantId, id, at, messageId }) => [tenantId, id, at, messageId], times: ['at'], lists: 3 },
    );
  }
}

function toTargets(rows: Target[]): Target[] {
  return rows.map(({ tenantId, id }) => ({ tenantId, id }));
}
