import { Channel } from '../common/channel-descriptors';
import { HIGHEST_ID, idFloor, LOWEST_ID } from '../common/ids';
import { Parameters } from '../database/parameters';
import { CONVERSATION_STATUSES, ConversationStatus } from './conversation.entity';
import { CONVERSATION_COLUMNS } from './conversations.repository';

/** Filter of a list of conversations. `agentId` is null for the conversations without an agent. */
export interface ListFilter {
  status?: ConversationStatus;
  channel?: Channel;
  agentId?: string | null;
  contactId?: string;
  /** Earliest time of a conversation's latest change. */
  updatedSince?: Date;
}

/** Filter of a list by latest activity. `agentId` is null for the conversations without an agent. */
export interface ActivityFilter {
  /** Required unless `ids` or `isWaiting` is given. */
  status?: ConversationStatus;
  channel?: Channel;
  agentId?: string | null;
  cursor?: string;
  /** Ids of the only conversations that the list may contain. */
  ids?: string[];
  /** Selects the conversations whose customer waits for a reply, in the order of the waiting messages. */
  isWaiting?: boolean;
}

/**
 * Order of a list: `id` is newest conversation first, `activity` is latest activity first. `waiting` has only
 * the conversations whose customer waits for a reply, the longest waiting first.
 */
export type ListOrder = 'id' | 'activity' | 'waiting';

/** Limit of the conversations that one statement reads, so that a page takes a bounded time. */
export const MAX_READ = 1_000;

/** Maximum number of milliseconds by which a message's id may show an earlier time than `updated_at`. */
const CLOCKS_DIFFER_MS = 60_000;

/** SQL of the id of a conversation's newest message, or of the conversation if it has no message. */
export const ACTIVITY = 'coalesce(last_message_id, id)';
const POSITIONS: Record<ListOrder, string> = {
  id: 'id',
  activity: ACTIVITY,
  waiting: 'waiting_message_id',
};

/**
 * SQL condition of the conversations whose customer waits. It is left out beside a condition of the waiting
 * message's position, which implies it: PostgreSQL takes the two for independent, expects too few rows, and
 * sorts all that wait in place of reading a page in the order of the index.
 */
const IS_WAITING = 'waiting_message_id IS NOT NULL';

/** Makes the SQL parts of a statement that lists conversations. In all parts $1 is the workspace. */
export class ListStatement {
  readonly parameters = new Parameters();
  readonly condition: string;
  /** SQL direction in which the positions of the list go. */
  readonly direction: 'ASC' | 'DESC';

  constructor(
    tenantId: string,
    private readonly filter: ListFilter,
    private readonly order: ListOrder,
  ) {
    this.bind(tenantId);
    this.direction = order === 'waiting' ? 'ASC' : 'DESC';
    const { status, channel, contactId, updatedSince } = filter;
    const conditions = [
      status && `status = ${this.bind(status)}`,
      channel && `"sourceChannel" = ${this.bind(channel)}`,
      this.isAgents('"assignedAgentId"'),
      contactId && `"contactId" = ${this.bind(contactId)}`,
      updatedSince && `"updatedAt" >= ${this.bind(updatedSince)}`,
    ];
    this.condition = conditions.filter(Boolean).join(' AND ') || 'true';
  }

  bind(value: unknown): string {
    return this.parameters.bind(value);
  }

  /** Returns an SQL condition that a position comes behind a cursor; without a cursor it is always true. */
  isBehind(position: string, cursor: string | undefined): string {
    return this.direction === 'ASC'
      ? `${position} > ${this.bind(cursor ?? LOWEST_ID)}`
      : `${position} < ${this.bind(cursor ?? HIGHEST_ID)}`;
  }

  /**
   * Returns SQL that selects, in no order, the conversations that an index finds by contact, by time of
   * change or by agent. Returns null if no such index helps. If the index finds more than MAX_READ
   * conversations, the SQL selects more than MAX_READ.
   */
  selectFew(): string | null {
    const scans = this.selectiveScans();
    return scans.length > 0 ? scans.map((scan) => limited(scan, MAX_READ + 1)).join(' UNION ') : null;
  }

  /**
   * Returns SQL that selects the conversations behind a position, in the order of the list. Only its first
   * MAX_READ rows are complete: after them, conversations may be missing.
   */
  selectBehind(cursor: string | undefined): string {
    const behind = this.isBehind(POSITIONS[this.order], cursor);
    const scans = this.orderedScans(behind).map((scan) => limited(scan, MAX_READ));
    return `SELECT * FROM (${scans.join(' UNION ALL ')}) AS scanned ORDER BY position ${this.direction}`;
  }

  /** Returns SQL that selects as many conversations of the filter as `wanted` says, of the first MAX_READ. */
  selectPage(list: string, wanted: string): string {
    return `SELECT * FROM (${list} LIMIT ${MAX_READ}) AS looked_at WHERE ${this.condition}
      ORDER BY position ${this.direction} LIMIT ${wanted}`;
  }

  private selectiveScans(): string[] {
    const { contactId, updatedSince, agentId } = this.filter;
    if (contactId)
      return [`${this.scan(`contact_id = ${this.bind(contactId)}`, this.isListed())} ORDER BY id DESC`];
    if (updatedSince) return this.scansOfChanged(updatedSince);
    // A list by activity needs no selection by agent, because an index has each agent's list in this order.
    // Few conversations wait, so that an agent's are found among all of them.
    if (agentId === undefined || this.order !== 'id') return [];
    return this.scansByActivity();
  }

  private orderedScans(behind: string): string[] {
    if (this.order === 'activity') return this.scansByActivity(behind);
    if (this.order === 'waiting') return [`${this.scan(behind)} ORDER BY waiting_message_id`];
    const { status, channel } = this.filter;
    const conditions = [
      status && `status = ${this.bind(status)}`,
      channel && `source_channel = ${this.bind(channel)}`,
      behind,
    ];
    return [`${this.scan(...conditions)} ORDER BY id DESC`];
  }

  /**
   * Returns SELECTs of the conversations that have changed since a time: of those with messages since then,
   * and of those that changed after their newest message. Two SELECTs may return the same conversation.
   */
  private scansOfChanged(since: Date): string[] {
    const floor = this.bind(idFloor(new Date(Math.max(0, since.getTime() - CLOCKS_DIFFER_MS))));
    const changed = this.scan(
      'updated_at > coalesce(last_message_at, created_at)',
      `updated_at >= ${this.bind(since)}`,
      this.isListed(),
    );
    const active = [`${ACTIVITY} >= ${floor}`, this.isListed()].filter(Boolean).join(' AND ');
    return [...this.scansByActivity(active), `${changed} ORDER BY updated_at DESC`];
  }

  /** Returns one SELECT for each status, because the status comes before the activity in the indexes. */
  private scansByActivity(condition?: string): string[] {
    const { status, agentId } = this.filter;
    return (status ? [status] : CONVERSATION_STATUSES).map((one) => {
      const scan = this.scan(this.isAgents('assigned_agent_id'), `status = ${this.bind(one)}`, condition);
      return `${scan} ORDER BY ${activityOrder(agentId)}`;
    });
  }

  private scan(...conditions: (string | undefined)[]): string {
    return `SELECT ${CONVERSATION_COLUMNS}, contact_id AS "contactId", updated_at AS "updatedAt", ${POSITIONS[this.order]} AS position
      FROM conversations WHERE tenant_id = $1 AND ${conditions.filter(Boolean).join(' AND ')}`;
  }

  /** Returns the SQL condition that a conversation is in the list, where no position says so. */
  private isListed(): string | undefined {
    return this.order === 'waiting' ? IS_WAITING : undefined;
  }

  private isAgents(column: string): string | undefined {
    const { agentId } = this.filter;
    if (agentId === undefined) return undefined;
    return agentId === null ? `${column} IS NULL` : `${column} = ${this.bind(agentId)}`;
  }
}

function activityOrder(agentId: string | null | undefined): string {
  // The order must name the column, because PostgreSQL does not see that IS NULL leaves only one value of it.
  return agentId === null ? `assigned_agent_id DESC, ${ACTIVITY} DESC` : `${ACTIVITY} DESC`;
}

function limited(scan: string, limit: number): string {
  return `(${scan} LIMIT ${limit})`;
}

/**
 * Makes the SQL parts of a statement that reads conversations by latest activity, or those that wait for a
 * reply; with `ids` only these. The agent of those that wait is not yet compared.
 */
export function scanByActivity(
  tenantId: string,
  { status, agentId, cursor, ids, isWaiting = false }: ActivityFilter,
) {
  const parameters = new Parameters();
  const tenant = `tenant_id = ${parameters.bind(tenantId)}`;
  const conditions = [tenant];
  if (status) conditions.push(`status = ${parameters.bind(status)}`);
  if (isWaiting && !cursor) conditions.push(IS_WAITING);
  // An index has each agent's list by activity.
  if (!isWaiting && agentId === null) conditions.push('assigned_agent_id IS NULL');
  if (!isWaiting && agentId) conditions.push(`assigned_agent_id = ${parameters.bind(agentId)}`);
  const position = POSITIONS[isWaiting ? 'waiting' : 'activity'];
  if (cursor) conditions.push(`${position} ${isWaiting ? '>' : '<'} ${parameters.bind(cursor)}`);
  // OFFSET 0 makes PostgreSQL read the rows with these ids first, instead of the index of all conversations.
  const table = ids
    ? `(SELECT * FROM conversations WHERE ${tenant} AND id = ANY (${parameters.bind(ids)}) OFFSET 0) AS named`
    : 'conversations';
  return {
    parameters,
    position,
    scanned: `FROM ${table} WHERE ${conditions.join(' AND ')}`,
    order: isWaiting ? position : activityOrder(agentId),
  };
}
