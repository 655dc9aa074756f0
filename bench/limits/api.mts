// The limit of the API: a server written by hand for these routes alone, with bare node:http, prepared
// statements, a pool of the same size and the same rate limit. It returns the service's responses. Keep its
// SQL in step with the service's.
import { createHash } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { crc32 } from 'node:zlib';
import { Redis } from 'ioredis';
import { portOf } from '../../scripts/processes.mjs';
import { endWithParent, tellParent } from '../support/parent.mts';
import { environmentVariable, POOL_SIZE } from '../support/settings.mts';
import { openDatabase } from './database.mts';
import { send, textOf } from './http.mts';
import { listContacts, listConversations, listMessages, me, type Principal, type Reading } from './reads.mts';
import { sendMessage } from './send-message.mts';

const WINDOW_MS = 60_000;
const DEFAULT_RATE_LIMIT = 240;

const database = openDatabase(environmentVariable('DATABASE_URL'), POOL_SIZE);
const redis = new Redis(environmentVariable('REDIS_URL'), {
  scripts: {
    hitWindow: {
      numberOfKeys: 1,
      lua: `
        local hits = redis.call('INCR', KEYS[1])
        local ttl = redis.call('PTTL', KEYS[1])
        if ttl < 0 then
          redis.call('PEXPIRE', KEYS[1], ARGV[1])
          ttl = tonumber(ARGV[1])
        end
        return {hits, ttl}`,
    },
  },
}) as Redis & {
  /**
   * Counts a request in the rate limit's window. Returns the requests so far, and the milliseconds until the
   * window ends.
   */
  hitWindow: (key: string, windowMs: number) => Promise<[hits: number, ttl: number]>;
};

/**
 * Arguments of a route's handler: the caller and its workspace, the query and the body, the conversation's id
 * in the path, and clients of PostgreSQL and Redis.
 */
interface Context extends Reading {
  redis: Redis;
  principal: Principal;
  conversationId: string;
  body: unknown;
}

interface Route {
  /** Path without ids, by which the rate limit counts, such as `/api/v1/conversations/:id/messages`. */
  template: string;
  scope: string | null;
  /** Returns the response's body; null for a 404, because the path's conversation is unknown. */
  handle: (context: Context) => object | null | Promise<object | null>;
  /** Status of a successful response; 200 by default. */
  status?: number;
}

/** Routes by method and last path segment, such as `GET me`. No two routes share both. */
const ROUTES: Record<string, Route> = {
  'GET me': { template: '/api/v1/me', scope: null, handle: me },
  'GET conversations': {
    template: '/api/v1/conversations',
    scope: 'conversations:read',
    handle: listConversations,
  },
  'GET contacts': { template: '/api/v1/contacts', scope: 'contacts:read', handle: listContacts },
  'GET messages': {
    template: '/api/v1/conversations/:id/messages',
    scope: 'messages:read',
    handle: listMessages,
  },
  'POST messages': {
    template: '/api/v1/conversations/:id/messages',
    scope: 'messages:write',
    handle: sendMessage,
    status: 201,
  },
};

class Refusal extends Error {
  readonly status: number;

  constructor(status: number, code: string) {
    super(code);
    this.status = status;
  }
}

const server = createServer((request, response) => {
  handle(request, response).catch((error: Error) => {
    send(response, error instanceof Refusal ? error.status : 500, { error: { code: error.message } });
  });
});

async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const [path = '', query] = (request.url ?? '').split('?', 2);
  const parts = path.split('/');
  const route = ROUTES[`${request.method} ${parts.at(-1)}`];
  if (!route) throw new Refusal(404, 'NOT_FOUND');
  const body: unknown = request.method === 'POST' ? JSON.parse(await textOf(request)) : null;
  const principal = await authenticate(request.headers);
  await countHit(principal, route.template, response);
  if (route.scope && !principal.scopes.includes(route.scope)) throw new Refusal(403, 'FORBIDDEN');
  const result = await route.handle({
    database,
    redis,
    principal,
    tenantId: principal.id,
    conversationId: parts.at(-2) ?? '',
    query: new URLSearchParams(query),
    body,
  });
  if (!result) throw new Refusal(404, 'NOT_FOUND');
  send(response, route.status ?? 200, result);
}

async function authenticate({ authorization = '' }: IncomingHttpHeaders): Promise<Principal> {
  const key = /^Bearer +(.+)$/i.exec(authorization)?.[1] ?? '';
  const [principal] = isWellFormed(key)
    ? await database.query<Principal>('authenticate', [createHash('sha256').update(key).digest()])
    : [];
  if (!principal) throw new Refusal(401, 'UNAUTHENTICATED');
  if (principal.use_is_stale) void database.query('mark-used', [principal.id, principal.key_id]);
  return principal;
}

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

function isWellFormed(key: string): boolean {
  if (!/^plk_[0-9A-Za-z]{40}$/.test(key)) return false;
  let rest = crc32(key.slice(0, -6));
  let digits = '';
  while (digits.length < 6) {
    digits = ALPHABET.charAt(rest % 62) + digits;
    rest = Math.floor(rest / 62);
  }
  return key.endsWith(digits);
}

async function countHit(
  { id, rate_limit: rateLimit }: Principal,
  template: string,
  response: ServerResponse,
): Promise<void> {
  const limit = rateLimit ?? DEFAULT_RATE_LIMIT;
  const [hits, ttl] = await redis.hitWindow(`rate:${id}:${template}`, WINDOW_MS);
  response.setHeader('X-RateLimit-Limit', limit);
  response.setHeader('X-RateLimit-Remaining', Math.max(0, limit - hits));
  response.setHeader('X-RateLimit-Reset', Math.max(1, Math.ceil(ttl / 1000)));
  if (hits > limit) throw new Refusal(429, 'RATE_LIMITED');
}

server.keepAliveTimeout = 75_000;
server.listen(0, '127.0.0.1', () => tellParent({ port: portOf(server) }));
endWithParent();
