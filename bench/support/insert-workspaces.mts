import type pg from 'pg';
import type { ApiKey, Endpoint, Fixture, Receiving, Workspace } from './fixture.mts';
import { RATE_LIMIT } from './settings.mts';

/** Function from an endpoint's path to its URL. */
export type UrlOf = (path: string) => string;

const SCOPES = [
  'conversations:read',
  'conversations:write',
  'messages:read',
  'messages:write',
  'contacts:read',
];

/** Inserts a fixture's workspaces, endpoints and API key. */
export async function insertFixture(
  db: pg.PoolClient,
  { measured, others, receiving, otherEndpoints }: Fixture,
  urlOf: UrlOf,
): Promise<void> {
  await insertWorkspaces(db, [measured, ...others]);
  await insertApiKeys(db, [measured]);
  await insertEndpoints(db, otherEndpoints, urlOf);
  await insertReceiving(db, receiving, urlOf);
}

/** Inserts workspaces with their endpoints and conversations. */
export async function insertReceiving(
  db: pg.PoolClient,
  receiving: Receiving[],
  urlOf: UrlOf,
): Promise<void> {
  await insertWorkspaces(db, receiving);
  await insertEndpoints(
    db,
    receiving.flatMap(({ endpoints }) => endpoints),
    urlOf,
  );
  await insertQuietConversations(db, receiving);
}

async function insertWorkspaces(db: pg.PoolClient, workspaces: Workspace[]): Promise<void> {
  await db.query(
    `INSERT INTO workspaces (id, name, slug, plan_tier, rate_limit, created_at, updated_at)
     SELECT id, name, name, 'PRO', $3, now(), now() FROM unnest($1::uuid[], $2::text[]) AS w (id, name)`,
    [column(workspaces, 'id'), column(workspaces, 'name'), RATE_LIMIT],
  );
  await db.query(
    `INSERT INTO workspace_slugs (slug, tenant_id)
     SELECT * FROM unnest($1::text[], $2::uuid[]) ON CONFLICT DO NOTHING`,
    [column(workspaces, 'name'), column(workspaces, 'id')],
  );
  await db.query(
    `INSERT INTO agents (id, tenant_id, name, email, role, is_bot, active, created_at, updated_at)
     SELECT id, tenant_id, 'Ann', 'ann@example.com', 'OWNER', false, true, now(), now()
     FROM unnest($1::uuid[], $2::uuid[]) AS a (id, tenant_id)`,
    [column(workspaces, 'agentId'), column(workspaces, 'id')],
  );
}

export async function insertApiKeys(
  db: pg.Pool | pg.PoolClient,
  workspaces: ({ id: string } & ApiKey)[],
): Promise<void> {
  await db.query(
    `INSERT INTO api_keys (id, tenant_id, name, hash, first_chars, last_chars, scopes, created_at)
     SELECT id, tenant_id, 'bench', hash, 'plk_', 'xxxx', $4, now()
     FROM unnest($1::uuid[], $2::uuid[], $3::bytea[]) AS k (id, tenant_id, hash)`,
    [column(workspaces, 'apiKeyId'), column(workspaces, 'id'), column(workspaces, 'apiKeyHash'), SCOPES],
  );
  await db.query(
    `INSERT INTO api_key_hashes (hash, tenant_id, id)
     SELECT * FROM unnest($1::bytea[], $2::uuid[], $3::uuid[]) ON CONFLICT DO NOTHING`,
    [column(workspaces, 'apiKeyHash'), column(workspaces, 'id'), column(workspaces, 'apiKeyId')],
  );
}

async function insertEndpoints(db: pg.PoolClient, endpoints: Endpoint[], urlOf: UrlOf): Promise<void> {
  await db.query(
    `INSERT INTO webhook_endpoints
       (id, tenant_id, url, events, secret_key_id, secret_ciphertext, active, created_at, updated_at)
     SELECT id, tenant_id, url, '{message.created}', key_id, ciphertext, true, now(), now()
     FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::bytea[])
       AS e (id, tenant_id, url, key_id, ciphertext)`,
    [
      column(endpoints, 'id'),
      column(endpoints, 'tenantId'),
      endpoints.map(({ path }) => urlOf(path)),
      endpoints.map(({ sealed }) => sealed.keyId),
      endpoints.map(({ sealed }) => sealed.ciphertext),
    ],
  );
}

/** Inserts the workspaces' conversations, which have no messages: events only name them. */
async function insertQuietConversations(db: pg.PoolClient, receiving: Receiving[]): Promise<void> {
  const conversations = receiving.flatMap(({ id: tenantId, contactId, conversationIds }) =>
    conversationIds.map((id) => ({ id, tenantId, contactId })),
  );
  await db.query(
    `INSERT INTO contacts (tenant_id, id, name, created_at, updated_at)
     SELECT tenant_id, id, 'Zoe', now(), now() FROM unnest($1::uuid[], $2::uuid[]) AS c (tenant_id, id)`,
    [column(receiving, 'id'), column(receiving, 'contactId')],
  );
  await db.query(
    `INSERT INTO conversations (tenant_id, id, contact_id, source_channel, status, created_at, updated_at)
     SELECT tenant_id, id, contact_id, 'WIDGET', 'OPEN', now(), now()
     FROM unnest($1::uuid[], $2::uuid[], $3::uuid[]) AS c (tenant_id, id, contact_id)`,
    [column(conversations, 'tenantId'), column(conversations, 'id'), column(conversations, 'contactId')],
  );
}

const column = <Row, Name extends keyof Row>(rows: Row[], name: Name): Row[Name][] =>
  rows.map((row) => row[name]);
