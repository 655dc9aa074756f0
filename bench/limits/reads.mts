// The reads, after authentication and rate limit.
import { foldText } from '#dist/common/folded-text.js';
import type { LimitDatabase } from './database.mts';

const DEFAULT_LIMIT = 50;
const HIGHEST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** Authenticated caller: its row of API key and workspace. */
export interface Principal {
  key_id: string;
  scopes: string[];
  use_is_stale: boolean;
  id: string;
  name: string;
  slug: string;
  plan_tier: string;
  rate_limit: number | null;
}

/** Arguments of a read: the database, the workspace, and the query string with filter, limit and cursor. */
export interface Reading {
  database: LimitDatabase;
  tenantId: string;
  query: URLSearchParams;
}

interface Page<Item> {
  data: Item[];
  nextCursor: string | null;
}

export function me({ principal }: { principal: Principal }) {
  const { key_id: apiKeyId, scopes, id, name, slug, plan_tier: planTier } = principal;
  return { apiKeyId, scopes, tenant: { id, name, slug, planTier } };
}

interface ConversationRow {
  id: string;
  source_channel: string;
  status: string;
  snoozed_until: Date | null;
  assigned_agent_id: string | null;
  last_message_preview: string | null;
  last_message_at: Date | null;
  created_at: Date;
}

export async function listConversations({ database, tenantId, query }: Reading) {
  const where = new Where('tenant_id =', tenantId);
  if (query.has('status')) where.and('status =', query.get('status'));
  if (query.has('channel')) where.and('source_channel =', query.get('channel'));
  const rows = await listRows<ConversationRow>(
    database,
    query,
    where,
    `SELECT id, source_channel, status, snoozed_until, assigned_agent_id, last_message_preview, last_message_at,
            created_at
     FROM conversations`,
  );
  return pageOf(rows, query, (row) => ({
    id: row.id,
    sourceChannel: row.source_channel,
    status: row.status,
    snoozedUntil: row.status === 'SNOOZED' ? row.snoozed_until : null,
    assignedAgentId: row.assigned_agent_id,
    lastMessagePreview: row.last_message_preview,
    lastMessageAt: row.last_message_at,
    createdAt: row.created_at,
  }));
}

interface MessageRow {
  id: string;
  sender_type: string;
  sender_agent_id: string | null;
  body: string;
  created_at: Date;
  delivery_status: string | null;
  delivery_error: string | null;
  edited_at: Date | null;
  unsent_at: Date | null;
  reactions: string[] | null;
}

/** Lists a page of a conversation's messages, newest first. Returns null if the conversation is unknown. */
export async function listMessages({
  database,
  tenantId,
  conversationId,
  query,
}: Reading & { conversationId: string }) {
  const [conversation] = await database.query('find-conversation', [tenantId, conversationId]);
  if (!conversation) return null;
  const where = new Where('tenant_id =', tenantId);
  where.and('conversation_id =', conversationId);
  const rows = await listRows<MessageRow>(
    database,
    query,
    where,
    `SELECT id, sender_type, sender_agent_id, body, created_at, delivery_status, delivery_error, edited_at,
            unsent_at, reactions
     FROM messages`,
  );
  return pageOf(rows, query, (row) => ({
    id: row.id,
    senderType: row.sender_type,
    senderAgentId: row.sender_agent_id,
    body: row.body,
    createdAt: row.created_at,
    delivery: { status: row.delivery_status, error: row.delivery_error },
    editedAt: row.edited_at,
    unsentAt: row.unsent_at,
    reactions: (row.reactions ?? []).map((emoji) => ({ senderType: 'CUSTOMER', emoji })),
  }));
}

interface ContactRow {
  id: string;
  name: string | null;
  email: string | null;
  phone: string | null;
  avatar_url: string | null;
  verified: boolean;
  attributes: object;
  created_at: Date;
  updated_at: Date;
}

interface IdentityRow {
  contact_id: string;
  channel: string;
  external_id: string;
}

export async function listContacts({ database, tenantId, query }: Reading) {
  const rows = await findContacts(database, tenantId, query);
  const ids = rows.slice(0, limitOf(query)).map(({ id }) => id);
  const identities =
    ids.length > 0 ? await database.query<IdentityRow>('identities-of', [tenantId, ids]) : [];
  return pageOf(rows, query, (row) => ({
    id: row.id,
    name: row.name,
    email: row.email,
    phone: row.phone,
    avatarUrl: row.avatar_url,
    verified: row.verified,
    attributes: row.attributes,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    identities: identities
      .filter((identity) => identity.contact_id === row.id)
      .map((identity) => ({ channel: identity.channel, externalId: identity.external_id })),
  }));
}

/** Builder of a WHERE clause: its text with `$1`, `$2` and so on, and the values for them. */
class Where {
  readonly values: unknown[] = [];
  text = '';

  constructor(comparison: string, value: unknown) {
    this.and(comparison, value);
  }

  and(comparison: string, value: unknown): void {
    this.values.push(value);
    this.text += `${this.text ? ' AND ' : ''}${comparison} $${this.values.length}`;
  }
}

/**
 * Searches contacts for the text `q` in one statement. Unlike the service's search, it does not handle a term
 * shorter than the index's grams, or one that many old contacts but few new ones match.
 */
function findContacts(
  database: LimitDatabase,
  tenantId: string,
  query: URLSearchParams,
): Promise<ContactRow[]> {
  const q = foldText(query.get('q') ?? '');
  const escaped = q.replace(/[\\%_]/g, (wildcard) => `\\${wildcard}`);
  const cursor = query.get('cursor') ?? HIGHEST_ID;
  return database.query('find-contacts', [tenantId, cursor, limitOf(query) + 1, `%${escaped}%`, q]);
}

/**
 * Reads the rows of a page, newest first, and the row after them if there is one: then another page follows.
 */
function listRows<Row extends object>(
  database: LimitDatabase,
  query: URLSearchParams,
  where: Where,
  select: string,
): Promise<Row[]> {
  if (query.has('cursor')) where.and('id <', query.get('cursor'));
  const text = `${select} WHERE ${where.text} ORDER BY id DESC LIMIT $${where.values.length + 1}`;
  return database.queryText(text, [...where.values, limitOf(query) + 1]);
}

function limitOf(query: URLSearchParams): number {
  return Number(query.get('limit') ?? DEFAULT_LIMIT);
}

function pageOf<Row extends { id: string }, Item>(
  rows: Row[],
  query: URLSearchParams,
  toItem: (row: Row) => Item,
): Page<Item> {
  const limit = limitOf(query);
  const shown = rows.slice(0, limit);
  return { data: shown.map(toItem), nextCursor: rows.length > limit ? (shown.at(-1)?.id ?? null) : null };
}
