// The reads, after authentication and rate limit.

const DEFAULT_LIMIT = 50;

export function me({ principal }) {
  const { key_id: apiKeyId, scopes, id, name, slug, plan_tier: planTier } = principal;
  return { apiKeyId, scopes, tenant: { id, name, slug, planTier } };
}

export async function listConversations({ database, tenantId, query }) {
  const where = new Where('tenant_id =', tenantId);
  if (query.has('status')) where.and('status =', query.get('status'));
  if (query.has('channel')) where.and('source_channel =', query.get('channel'));
  const { rows, nextCursor } = await page(
    database,
    query,
    where,
    `SELECT id, source_channel, status, assigned_agent_id, last_message_preview, last_message_at, created_at
     FROM conversations`,
  );
  return {
    data: rows.map((row) => ({
      id: row.id,
      sourceChannel: row.source_channel,
      status: row.status,
      assignedAgentId: row.assigned_agent_id,
      lastMessagePreview: row.last_message_preview,
      lastMessageAt: row.last_message_at,
      createdAt: row.created_at,
    })),
    nextCursor,
  };
}

export async function listMessages({ database, tenantId, conversationId, query }) {
  const [conversation] = await database.read('find-conversation', [tenantId, conversationId]);
  if (!conversation) return null;
  const where = new Where('tenant_id =', tenantId);
  where.and('conversation_id =', conversationId);
  const { rows, nextCursor } = await page(
    database,
    query,
    where,
    `SELECT id, sender_type, sender_agent_id, body, created_at, delivery_status, delivery_error FROM messages`,
  );
  return { data: rows.map(toMessage), nextCursor };
}

function toMessage(row) {
  return {
    id: row.id,
    senderType: row.sender_type,
    senderAgentId: row.sender_agent_id,
    body: row.body,
    createdAt: row.created_at,
    delivery: { status: row.delivery_status, error: row.delivery_error },
  };
}

export async function listContacts({ database, tenantId, query }) {
  const { rows, nextCursor } = await findContacts(database, tenantId, query);
  const ids = rows.map(({ id }) => id);
  const identities = ids.length > 0 ? await database.read('identities-of', [tenantId, ids]) : [];
  return {
    data: rows.map((row) => ({
      id: row.id,
      name: row.name,
      email: row.email,
      phone: row.phone,
      avatarUrl: row.avatar_url,
      identities: identities
        .filter((identity) => identity.contact_id === row.id)
        .map((identity) => ({ channel: identity.channel, externalId: identity.external_id })),
      verified: row.verified,
      attributes: row.attributes,
      createdAt: row.created_at,
      updatedAt: row.updated_at,
    })),
    nextCursor,
  };
}

class Where {
  constructor(comparison, value) {
    this.values = [];
    this.text = '';
    this.and(comparison, value);
  }

  and(comparison, value) {
    this.values.push(value);
    this.text += `${this.text ? ' AND ' : ''}${comparison} $${this.values.length}`;
  }
}

/** Searches only for what grams can find, and not for what many old contacts have. */
async function findContacts(database, tenantId, query) {
  const q = query.get('q');
  const limit = Number(query.get('limit') ?? DEFAULT_LIMIT);
  const escaped = q.replace(/[\\%_]/g, (wildcard) => `\\${wildcard}`);
  const rows = await database.read('find-contacts', [
    tenantId,
    query.get('cursor') ?? 'ffffffff-ffff-ffff-ffff-ffffffffffff',
    limit + 1,
    `%${escaped}%`,
    q,
  ]);
  return cut(rows, limit);
}

async function page(database, query, where, select) {
  const limit = Number(query.get('limit') ?? DEFAULT_LIMIT);
  if (query.has('cursor')) where.and('id <', query.get('cursor'));
  const text = `${select} WHERE ${where.text} ORDER BY id DESC LIMIT $${where.values.length + 1}`;
  return cut(await database.readText(text, [...where.values, limit + 1]), limit);
}

function cut(rows, limit) {
  const shown = rows.slice(0, limit);
  return { rows: shown, nextCursor: rows.length > limit ? shown.at(-1).id : null };
}
