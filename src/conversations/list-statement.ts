import { Channel } from '../common/channel-descriptors';
import { idFloor } from '../common/ids';
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
  /** Required unless `ids` is given. */
  status?: ConversationStatus;
  channel?: Channel;
  agentId?: string | null;
  cursor?: string;
  /** Ids of the only conversations that the list may contain. */
  ids?: string[];
}

/** Order of a list: `id` is newest conversation first, `activity` is latest activity first. */
export type ListOrder = 'id' | 'activity';

/** Limit of the conversations that one statement reads, so that a page takes a bounded time. */
export const MAX_READ = 1_000;

/** Milliseconds by which the time in a message's id may be earlier than its conversation's `updated_at`. */
const CLOCKS_DIFFER_MS = 60_000;

/** SQL of the id of a conversation's newest message, or of the conversation if it has no message. */
export const ACTIVITY = 'coalesce(last_message_id, id)';
const POSITIONS: Record<ListOrder, string> = { id: 'id', activity: ACTIVITY };

/** Makes the parts of a statement that lists conversations. In all parts $1 is the workspace. */
export class ListStatement {
  readonly parameters = new Parameters();
  readonly condition: string;

  constructor(
    tenantId: string,
    private readonly filter: ListFilter,
    private readonly order: ListOrder,
  ) {
    this.bind(tenantId);
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

  /**
   * Returns SQL that selects, unordered, the conversations to which the index of the most selective filter
   * leads; null if no filter is selective. It selects more than MAX_READ rows if the index leads to more.
   */
  selectFew(): string | null {
    const scans = this.selectiveScans();
    return scans.length > 0 ? scans.map((scan) => limited(scan, MAX_READ + 1)).join(' UNION ') : null;
  }

  /**
   * Returns SQL that selects the list below a position, in order. After its first MAX_READ rows,
   * conversations may be missing.
   */
  selectBelow(cursor: string): string {
    const below = `${POSITIONS[this.order]} < ${this.bind(cursor)}`;
    const scans = this.orderedScans(below).map((scan) => limited(scan, MAX_READ));
    return `SELECT * FROM (${scans.join(' UNION ALL ')}) AS scanned ORDER BY position DESC`;
  }

  private selectiveScans(): string[] {
    const { contactId, updatedSince, agentId } = this.filter;
    if (contactId) return [`${this.scan(`contact_id = ${this.bind(contactId)}`)} ORDER BY id DESC`];
    if (updatedSince) return this.scansOfChanged(updatedSince);
    // An index has each agent's conversations in the order of activity, so that list needs no selective scan.
    if (agentId === undefined || this.order === 'activity') return [];
    return this.scansByActivity();
  }

  private orderedScans(below: string): string[] {
    if (this.order === 'activity') return this.scansByActivity(below);
    const { status, channel } = this.filter;
    const conditions = [
      status && `status = ${this.bind(status)}`,
      channel && `source_channel = ${this.bind(channel)}`,
      below,
    ];
    return [`${this.scan(...conditions)} ORDER BY id DESC`];
  }

  /**
   * Returns scans of the conversations that have changed since a time, by recent messages and by changes
   * after the newest message. A conversation may be in both.
   */
  private scansOfChanged(since: Date): string[] {
    const floor = this.bind(idFloor(new Date(Math.max(0, since.getTime() - CLOCKS_DIFFER_MS))));
    const changed = this.scan(
      'updated_at > coalesce(last_message_at, created_at)',
      `updated_at >= ${this.bind(since)}`,
    );
    return [...this.scansByActivity(`${ACTIVITY} >= ${floor}`), `${changed} ORDER BY updated_at DESC`];
  }

  /** Returns scans by latest activity, one for each status: the indexes begin with the status. */
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

  private isAgents(column: string): string | undefined {
    const { agentId } = this.filter;
    if (agentId === undefined) return undefined;
    return agentId === null ? `${column} IS NULL` : `${column} = ${this.bind(agentId)}`;
  }
}

function activityOrder(agentId: string | null | undefined): string {
  // PostgreSQL does not see that IS NULL leaves only one value. So the order must name that column.
  return agentId === null ? `assigned_agent_id DESC, ${ACTIVITY} DESC` : `${ACTIVITY} DESC`;
}

function limited(scan: string, limit: number): string {
  return `(${scan} LIMIT ${limit})`;
}

/** Makes the parts of a statement that reads conversations by latest activity, optionally among ids. */
export function scanByActivity(tenantId: string, { status, agentId, cursor, ids }: ActivityFilter) {
  const parameters = new Parameters();
  const tenant = `tenant_id = ${parameters.bind(tenantId)}`;
  const conditions = [tenant];
  if (status) conditions.push(`status = ${parameters.bind(status)}`);
  if (agentId === null) conditions.push('assigned_agent_id IS NULL');
  if (agentId) conditions.push(`assigned_agent_id = ${parameters.bind(agentId)}`);
  if (cursor) conditions.push(`${ACTIVITY} < ${parameters.bind(cursor)}`);
  // OFFSET 0 makes PostgreSQL read the named rows first, instead of the index of all conversations.
  const table = ids
    ? `(SELECT * FROM conversations WHERE ${tenant} AND id = ANY (${parameters.bind(ids)}) OFFSET 0) AS named`
    : 'conversations';
  return {
    parameters,
    scanned: `FROM ${table} WHERE ${conditions.join(' AND ')}`,
    order: activityOrder(agentId),
  };
}
