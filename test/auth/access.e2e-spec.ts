import { request } from 'undici';
import { ModulesContainer } from '@nestjs/core';
import { METHOD_METADATA } from '@nestjs/common/constants';
import { CreatedApiKey } from '../../src/auth/api-key.dto';
import { generateApiKey } from '../../src/auth/api-key-token';
import { ApiKeysService } from '../../src/auth/api-keys.service';
import { PUBLIC, SCOPES_ALLOWED } from '../../src/http/access.decorators';
import { newId } from '../../src/common/ids';
import { SYSTEM } from '../../src/access/principal';
import { Scope, SCOPES } from '../../src/access/permissions';
import { ApiResponse } from '../support/api-client';
import { errorBody } from '../support/errors';
import {
  call,
  callIn,
  CONTRACT_ROUTES,
  createTenant,
  nameOf,
  READS,
  Route,
  ROUTES,
  ROUTES_WITH_ID,
  Tenant,
  WRITES,
  successOfOtherKey,
} from '../support/routes';
import { TestService } from '../support/service';
import { waitFor } from '../support/wait';

const MISSING_KEY = 'Send an API key as "Authorization: Bearer plk_…" or "x-api-key: plk_…".';
const BAD_KEY = 'The API key is malformed, unknown, expired or revoked.';
const EXPIRED = 'The trial has ended: the API is read-only until the workspace is upgraded.';

const each = <R extends Route>(routes: R[]): [string, R][] => routes.map((route) => [nameOf(route), route]);

describe('access', () => {
  let service: TestService;
  let tenant: Tenant;
  let stranger: Tenant;
  /** Keys of the tenant, each with one scope. */
  const keys = new Map<Scope, CreatedApiKey>();

  beforeAll(async () => {
    service = await TestService.create();
    tenant = await createTenant(service);
    stranger = await createTenant(service);
    for (const scope of SCOPES) keys.set(scope, await service.make.apiKey(tenant.workspace, [scope]));
  });

  const callWith = (headers: Record<string, string>, route: Route) =>
    callIn(tenant, route, service.client.with(headers));

  function expectRefused(answer: ApiResponse, message: string): void {
    expect(answer.status).toBe(401);
    expect(answer.body).toEqual(errorBody('UNAUTHENTICATED', message));
    expect(answer.headers).not.toHaveProperty('x-ratelimit-limit');
  }

  describe.each(each(ROUTES))('%s', (_, route) => {
    it('is open to a key in either header', async () => {
      const { key } = tenant.key;
      expect((await callWith({ authorization: `Bearer ${key}` }, route)).status).toBe(route.success);
      expect((await callWith({ 'x-api-key': key }, route)).status).toBe(route.success);
    });

    it('is closed without a key', async () => {
      expectRefused(await callWith({}, route), MISSING_KEY);
    });

    it('is closed to a revoked key, at once', async () => {
      const { workspace } = tenant;
      const key = await service.make.apiKey(workspace);
      expect((await callWith({ 'x-api-key': key.key }, route)).status).toBe(successOfOtherKey(route));
      await service.app.get(ApiKeysService).revoke(workspace.id, key.id, { reason: 'LEAKED' }, SYSTEM);
      expectRefused(await callWith({ 'x-api-key': key.key }, route), BAD_KEY);
    });

    it('is open to each of its scopes alone, and to no other', async () => {
      for (const [scope, { key }] of keys) {
        const { status, body } = await callWith({ 'x-api-key': key }, route);
        if (route.scopes.length === 0 || route.scopes.includes(scope)) {
          expect(status).toBe(successOfOtherKey(route));
        } else {
          expect(status).toBe(403);
          const message = `The API key lacks the scope ${route.scopes.join(' or ')}.`;
          expect(body).toEqual(errorBody('FORBIDDEN', message));
        }
      }
    });

    it('refuses a query parameter that it does not know', async () => {
      const unknown = { ...route, query: [route.query ?? [], 'colour=red'].flat().join('&') };
      const { status, body } = await callIn(tenant, unknown);
      expect(status).toBe(400);
      expect(body).toEqual(
        errorBody('INVALID_QUERY', expect.any(String), [
          { field: 'colour', message: 'is not a known field' },
        ]),
      );
    });

    it('answers 429 over the limit', async () => {
      const capped = await createTenant(service, service.make.workspace({ rateLimit: 1 }));
      expect((await callIn(capped, route)).status).toBe(route.success);
      const { status, body, headers } = await callIn(capped, route);
      expect(status).toBe(429);
      expect(body).toEqual(
        errorBody('RATE_LIMITED', expect.stringMatching(/^More than 1 requests a minute on this path\./)),
      );
      expect(headers).toMatchObject({ 'x-ratelimit-limit': '1', 'x-ratelimit-remaining': '0' });
      expect(headers['retry-after']).toBe(headers['x-ratelimit-reset']);
      expect(Number(headers['retry-after'])).toBeGreaterThan(50);
    });
  });

  // One guard checks the keys of all routes. It refuses a network with too many bad keys, so some are called.
  describe.each(each(CONTRACT_ROUTES))('%s', (_, route) => {
    it('is closed to a malformed key', async () => {
      const { key } = tenant.key;
      const mistyped = `${key.slice(0, 10)}${key[10] === 'a' ? 'b' : 'a'}${key.slice(11)}`;
      for (const malformed of ['plk_short', mistyped, key.slice('plk_'.length), `${key}x`])
        expectRefused(await callWith({ 'x-api-key': malformed }, route), BAD_KEY);
    });

    it('is closed to an unknown key', async () => {
      expectRefused(await callWith({ 'x-api-key': generateApiKey() }, route), BAD_KEY);
    });

    it('is closed to an expired key', async () => {
      const key = await service.make.apiKey(tenant.workspace);
      await service.query(`UPDATE api_keys SET expires_at = now() - interval '1 second' WHERE id = $1`, [
        key.id,
      ]);
      expectRefused(await callWith({ 'x-api-key': key.key }, route), BAD_KEY);
    });
  });

  it("writes down a key's last use at most once a minute", async () => {
    const [key, other] = [
      await service.make.apiKey(tenant.workspace),
      await service.make.apiKey(tenant.workspace),
    ];
    const use = ({ key: value }: typeof key) => service.client.as({ key: value }).get('/me');
    const lastUseOf = async ({ id }: typeof key) => {
      const rows = await service.query<{ at: string | null }>(
        'SELECT last_used_at::text AS at FROM api_keys WHERE id = $1',
        [id],
      );
      return rows[0]!.at;
    };
    await use(key);
    await waitFor('the first use', () => lastUseOf(key));

    await service.query(`UPDATE api_keys SET last_used_at = now() - interval '61 seconds' WHERE id = $1`, [
      key.id,
    ]);
    const before = await lastUseOf(key);
    await use(key);
    const renewed = await waitFor('a use after a minute', async () => {
      const at = await lastUseOf(key);
      return at !== before && at;
    });

    await use(key);
    // A use is recorded after the answer. Once a later use of another key is there, this one would be too.
    await use(other);
    await waitFor("the other key's use", () => lastUseOf(other));
    expect(await lastUseOf(key)).toBe(renewed);
  });

  describe('the two headers', () => {
    const me = ROUTES[0]!;

    it('may both carry the same key', async () => {
      const { key } = tenant.key;
      const answer = await callWith({ authorization: `Bearer ${key}`, 'x-api-key': key }, me);
      expect(answer.status).toBe(200);
    });

    it('may not differ, even if both keys are valid', async () => {
      const headers = { authorization: `Bearer ${tenant.key.key}`, 'x-api-key': stranger.key.key };
      expectRefused(await callWith(headers, me), 'The two headers carry different API keys.');
    });

    it.each(['Basic dXNlcjpwYXNz', 'Digest username="proxy"', 'Negotiate YII='])(
      'take the key beside "authorization: %s" of a proxy (public report 36)',
      async (authorization) => {
        const answer = await callWith({ authorization, 'x-api-key': tenant.key.key }, me);
        expect(answer.status).toBe(200);
      },
    );

    it('take the key beside a second Authorization, of a proxy (public report 36)', async () => {
      const authorization = ['Basic dXNlcjpwYXNz', `Bearer ${tenant.key.key}`];
      const { statusCode } = await request(`${service.baseUrl}${me.path}`, { headers: { authorization } });
      expect(statusCode).toBe(200);
    });

    it.each(['Bearer eyJhbGciOiJIUzI1NiJ9.e30.x', 'Bearer'])(
      'may not differ in that one is another token: %s',
      async (authorization) => {
        const headers = { authorization, 'x-api-key': tenant.key.key };
        expectRefused(await callWith(headers, me), 'The two headers carry different API keys.');
      },
    );

    it('refuse Basic alone', async () => {
      expectRefused(await callWith({ authorization: 'Basic dXNlcjpwYXNz' }, me), MISSING_KEY);
    });

    it('take "bearer" in any case', async () => {
      expect((await callWith({ authorization: `bearer ${tenant.key.key}` }, me)).status).toBe(200);
    });

    it.each(['Bearer', 'Bearer ', 'Token x', ''])('refuse "authorization: %s"', async (authorization) => {
      expectRefused(await callWith({ authorization }, me), MISSING_KEY);
    });

    it('refuse a key without "Bearer" by saying how it is sent', async () => {
      expectRefused(await callWith({ authorization: tenant.key.key }, me), MISSING_KEY);
    });
  });

  describe.each(each(ROUTES_WITH_ID))("%s with another workspace's id", (_, route) => {
    it('answers exactly as for an id that does not exist', async () => {
      const foreign = await call(tenant.client, route, await route.thing.idOf(stranger));
      const missing = await call(tenant.client, route, newId());
      expect(foreign.status).toBe(404);
      expect(foreign.body).toEqual(errorBody('NOT_FOUND', `${route.thing.noun} not found.`));
      expect({ ...missing.body.error, requestId: '' }).toEqual({ ...foreign.body.error, requestId: '' });
      expect(Object.keys(missing.headers)).toEqual(Object.keys(foreign.headers));
    });

    it.each(['1', 'me', '019ab3f4-5c1e-7d2a-9b34', '%20', '%00', "'--", '..%2fme'])(
      'answers the same for the id %s',
      async (id) => {
        const { status, body } = await call(tenant.client, route, id);
        expect(status).toBe(404);
        expect(body).toEqual(errorBody('NOT_FOUND', `${route.thing.noun} not found.`));
      },
    );

    it.each(['%', '%zz', '%E0%A4%A'])('finds nothing at the broken encoding %s', async (id) => {
      const { status, body } = await call(tenant.client, route, id);
      expect(status).toBe(404);
      expect(body).toEqual(errorBody('NOT_FOUND', 'No such path.'));
    });
  });

  it("lists nothing of another workspace's", async () => {
    const { client } = tenant;
    const conversations = await client.all('/conversations', 200);
    expect(conversations.map(({ id }) => id)).not.toContain(stranger.conversation.id);
    const contacts = await client.all('/contacts', 200);
    expect(contacts.map(({ id }) => id)).not.toContain(stranger.conversation.contact.id);
    expect(contacts.map(({ id }) => id)).toContain(tenant.conversation.contact.id);
  });

  describe('an expired trial', () => {
    let expired: Tenant;

    beforeAll(async () => {
      const workspace = await service.make.workspace({ planTier: 'TRIAL' });
      expired = await createTenant(service, Promise.resolve(workspace));
      await service.query(`UPDATE workspaces SET trial_ends_at = now() WHERE id = $1`, [workspace.id]);
    });

    it.each(each(WRITES))('refuses %s', async (_, route) => {
      const { status, body } = await callIn(expired, route);
      expect(status).toBe(402);
      expect(body).toEqual(errorBody('TRIAL_EXPIRED', EXPIRED));
    });

    it.each(each(READS))('lets %s through', async (_, route) => {
      expect((await callIn(expired, route)).status).toBe(200);
    });

    it.each(each(WRITES))('lets %s through once upgraded', async (_, route) => {
      await service.query(`UPDATE workspaces SET plan_tier = 'STARTER' WHERE id = $1`, [
        expired.workspace.id,
      ]);
      const { status } = await callIn(expired, route);
      expect(status).toBe(route.success);
    });
  });

  describe('the order of checks', () => {
    const post = ROUTES.find(({ method }) => method === 'POST')!;
    const messages = ROUTES.find(({ path, method }) => path.endsWith('/messages') && method === 'GET')!;
    const invalid = { ...post, body: () => ({ body: '' }) };

    it('unknown paths and unreadable bodies come before the key', async () => {
      const { client } = service;
      expect((await client.get('/nothing')).status).toBe(404);
      const raw = (text: string) =>
        client.send({ method: 'POST', path: post.path.replace(':id', newId()), raw: text });
      expect((await raw('{"body":')).body).toEqual(
        errorBody('INVALID_BODY', 'The body cannot be read as JSON.'),
      );
      const oversized = await raw(JSON.stringify({ body: 'x'.repeat(256 * 1024) }));
      expect(oversized.status).toBe(413);
      expect(oversized.body).toEqual(errorBody('PAYLOAD_TOO_LARGE', 'The body is larger than 256 KiB.'));
    });

    it('then the key, before everything else', async () => {
      expect((await call(service.client, invalid, newId())).status).toBe(401);
    });

    it('then the rate, before the scope', async () => {
      const workspace = await service.make.workspace({ rateLimit: 1 });
      const client = service.client.as(await service.make.apiKey(workspace, ['contacts:read']));
      expect((await call(client, invalid, newId())).status).toBe(403);
      expect((await call(client, invalid, newId())).status).toBe(429);
    });

    it('then the scope, before the trial', async () => {
      const workspace = await service.make.expiredTrial();
      const client = service.client.as(await service.make.apiKey(workspace, ['contacts:read']));
      expect((await call(client, invalid, newId())).status).toBe(403);
    });

    it('then the trial, before the request itself', async () => {
      const workspace = await service.make.expiredTrial();
      const client = service.client.as(await service.make.apiKey(workspace));
      expect((await call(client, invalid, newId())).status).toBe(402);
    });

    it('then the request, before what it asks for', async () => {
      expect((await call(tenant.client, invalid, newId())).status).toBe(400);
      const query = { ...messages, query: 'limit=0' };
      expect((await call(tenant.client, query, newId())).status).toBe(400);
      expect((await call(tenant.client, post, newId())).status).toBe(404);
    });
  });

  it('is declared by every route: a scope, any key, or public', () => {
    const handlers = [...service.app.get(ModulesContainer).values()]
      .flatMap(({ controllers }) => [...controllers.values()])
      .flatMap(({ metatype }) => {
        const { prototype, name } = metatype as { prototype: object; name: string };
        return Object.getOwnPropertyNames(prototype).map((method) => ({
          name: `${name}.${method}`,
          controller: metatype as object,
          handler: (prototype as Record<string, object>)[method]!,
        }));
      })
      .filter(({ handler }) => Reflect.hasMetadata(METHOD_METADATA, handler));

    const undeclared = handlers.filter(({ handler, controller }) =>
      [PUBLIC, SCOPES_ALLOWED].every((key) =>
        [handler, controller].every((target) => !Reflect.hasMetadata(key, target)),
      ),
    );

    expect(handlers.length).toBeGreaterThanOrEqual(ROUTES.length);
    expect(undeclared.map(({ name }) => name)).toEqual([]);
  });

  it('is asked for below /api/v1 on every route that is not listed here with its reason', () => {
    const outside = [
      // Load balancers and orchestrators do not depend on a version of the API.
      /^\/health\//,
      // The addresses at providers and in workspaces' pages outlive a version of the API.
      /^\/channels\//,
      // The snippets in workspaces' pages outlive it, too.
      /^\/widget\//,
      // The addresses in mails outlive it, too.
      /^\/alert-mails\//,
      // The documentation is for people, and names the API's version itself; the first page leads there.
      /^\/docs/,
      /^\/$/,
    ];
    const { router } = service.app.getHttpAdapter().getInstance() as {
      router: { stack: { route?: { path: string } }[] };
    };
    const paths = router.stack.flatMap(({ route }) => route?.path ?? []);

    expect(paths).toEqual(expect.arrayContaining(ROUTES.map(({ path }) => path)));
    const isListed = (path: string) => outside.some((prefix) => prefix.test(path));
    expect(paths.filter((path) => !path.startsWith('/api/v1/') && !isListed(path))).toEqual([]);
  });
});
