import { Client } from 'pg';
import { generateApiKey } from '../../src/auth/api-key-token';
import { RateLimitUseService } from '../../src/auth/rate-limit-use.service';
import { SYSTEM } from '../../src/access/principal';
import { RedisConnection } from '../../src/redis/redis-connections';
import { RateLimiter } from '../../src/http/limits/rate-limiter';
import { newId } from '../../src/common/ids';
import { ApiClient, ApiResponse } from '../support/api-client';
import { countedInRedis, sharesCounts } from '../support/counted-in-redis';
import { errorBody } from '../support/errors';
import { countLockWaits } from '../support/lock-waits';
import { callIn, createTenant, ROUTES } from '../support/routes';
import { OwnRedis } from '../support/own-redis';
import { keysOf, openRedis } from '../support/redis-connections';
import { TestService } from '../support/service';
import { TcpProxy } from '../support/tcp-proxy';
import { letTimePass, waitFor } from '../support/wait';

const statusesOf = (answers: ApiResponse[]) => answers.map(({ status }) => status);
const count = (answers: ApiResponse[], status: number) =>
  answers.filter((answer) => answer.status === status).length;

describe('the rate limit', () => {
  let service: TestService;
  let redis: RedisConnection;

  beforeAll(async () => {
    service = await TestService.create();
    redis = openRedis(service.stores.redisUrl);
  });
  afterAll(async () => {
    redis.disconnect();
    await service.close();
  });

  const capped = (rateLimit: number) => createTenant(service, service.make.workspace({ rateLimit }));

  it('shows what each path has used of it, and counts nothing by that', async () => {
    await sharesCounts(service);
    const tenant = await capped(100);
    for (const route of ROUTES) await callIn(tenant, route);
    await tenant.client.get('/me');
    const use = await service.app
      .get(RateLimitUseService, { strict: false })
      .list(tenant.workspace.id, SYSTEM);
    const endsInSeconds = expect.any(Number);
    expect(use).toHaveLength(new Set(ROUTES.map(({ path }) => path)).size);
    expect(use).toContainEqual({ path: '/api/v1/me', used: 2, endsInSeconds });
    // GET and PATCH count together.
    expect(use).toContainEqual({ path: '/api/v1/conversations/:id', used: 2, endsInSeconds });
    expect(use).toContainEqual({ path: '/api/v1/agents', used: 1, endsInSeconds });
    expect(use!.at(-1)!.used).toBe(1);
    expect(await service.app.get(RateLimitUseService, { strict: false }).list('nope', SYSTEM)).toEqual([]);
  });

  describe('with two processes', () => {
    let second: TestService;

    beforeAll(async () => {
      second = await TestService.create({ beside: service });
    });
    afterAll(() => second.close());

    const makeCalls = async () => {
      const workspace = await service.make.workspace();
      const keys = await Promise.all(Array.from({ length: 4 }, () => service.make.apiKey(workspace)));
      const clients = Array.from({ length: 20 }, (_, i) =>
        [service, second][i % 2]!.client.as(keys[i % keys.length]!),
      );
      const callSixteenTimes = async (client: ApiClient) => {
        const answers: ApiResponse[] = [];
        for (let i = 0; i < 16; i++) answers.push(await client.get('/me'));
        return answers;
      };

      return (await Promise.all(clients.map(callSixteenTimes))).flat();
    };

    it('lets exactly 240 of 320 calls by twenty concurrent clients through', async () => {
      const answers = await countedInRedis([service, second], makeCalls);

      expect(count(answers, 200)).toBe(240);
      expect(count(answers, 429)).toBe(80);
      const remaining = answers
        .filter(({ status }) => status === 200)
        .map(({ headers }) => Number(headers['x-ratelimit-remaining']))
        .sort((a, b) => a - b);
      expect(remaining).toEqual(Array.from({ length: 240 }, (_, i) => i));
      for (const { headers } of answers) expect(headers['x-ratelimit-limit']).toBe('240');
    });
  });

  it('counts down in the headers, and says when and why it is over', async () => {
    const { client } = await capped(2);
    const answers = [await client.get('/me'), await client.get('/me'), await client.get('/me')];
    expect(answers.map(({ headers }) => headers['x-ratelimit-remaining'])).toEqual(['1', '0', '0']);
    for (const { headers } of answers) {
      expect(headers['x-ratelimit-limit']).toBe('2');
      expect(headers['x-ratelimit-reset']).toMatch(/^(60|59|58)$/);
    }
    const seconds = answers[2]!.headers['retry-after']!;
    expect(seconds).toBe(answers[2]!.headers['x-ratelimit-reset']);
    expect(answers[2]!.body).toEqual(
      errorBody('RATE_LIMITED', `More than 2 requests a minute on this path. Retry in ${seconds} s.`),
    );
    expect(answers[0]!.headers).not.toHaveProperty('retry-after');
  });

  it('is on refusals of an authenticated caller too', async () => {
    const { client } = await capped(3);
    const answer = await client.get(`/conversations/${newId()}`);
    expect(answer.status).toBe(404);
    expect(answer.headers['x-ratelimit-remaining']).toBe('2');
    const invalid = await client.get('/conversations?limit=0');
    expect(invalid.status).toBe(400);
    expect(invalid.headers['x-ratelimit-remaining']).toBe('2');
  });

  it('counts a path by its template: neither ids nor methods make another', async () => {
    const { client, conversation, workspace } = await capped(3);
    const other = await service.make.conversation(workspace);
    const answers = [
      await client.get(`/conversations/${conversation.id}`),
      await client.get(`/conversations/${other.id}?`),
      await client.patch(`/conversations/${conversation.id}`, { status: 'CLOSED' }),
      await client.get(`/conversations/${newId()}`),
      await client.patch(`/conversations/${other.id}`, { status: 'CLOSED' }),
      await client.get(`/conversations/${conversation.id.toUpperCase()}`),
    ];
    expect(statusesOf(answers)).toEqual([200, 200, 200, 429, 429, 429]);
  });

  it('counts each path apart', async () => {
    const { client, conversation } = await capped(1);
    for (const path of [
      '/me',
      '/conversations',
      `/conversations/${conversation.id}`,
      `/conversations/${conversation.id}/messages`,
      '/contacts',
    ])
      expect(statusesOf([await client.get(path), await client.get(path)])).toEqual([200, 429]);
  });

  it("is shared by all of the workspace's keys, and by no other workspace", async () => {
    const { client, workspace } = await capped(2);
    const another = service.client.as(await service.make.apiKey(workspace));
    const stranger = await capped(2);
    expect(statusesOf([await client.get('/me'), await another.get('/me'), await client.get('/me')])).toEqual([
      200, 200, 429,
    ]);
    expect((await stranger.client.get('/me')).status).toBe(200);
  });

  it("is the workspace's own cap, also above 240, and from the next call on", async () => {
    const { client, workspace } = await capped(1000);
    expect((await client.get('/me')).headers).toMatchObject({
      'x-ratelimit-limit': '1000',
      'x-ratelimit-remaining': '999',
    });
    await service.query('UPDATE workspaces SET rate_limit = 2 WHERE id = $1', [workspace.id]);
    expect(statusesOf([await client.get('/me'), await client.get('/me')])).toEqual([200, 429]);
  });

  it('lets a call pass after Retry-After, however often it was refused before', async () => {
    await sharesCounts(service);
    const { client, workspace } = await capped(1);
    await client.get('/me');
    const [key] = await keysOf(redis, `*${workspace.id}*`);
    await redis.pexpire(key!, 1_500);
    const refused = await Promise.all(Array.from({ length: 10 }, () => client.get('/me')));
    expect(statusesOf(refused)).toEqual(Array(10).fill(429));
    const seconds = Math.max(...refused.map(({ headers }) => Number(headers['retry-after'])));
    expect(seconds).toBeLessThanOrEqual(2);
    await letTimePass(seconds * 1000);
    expect((await client.get('/me')).status).toBe(200);
  });

  describe('while Redis is away', () => {
    let own: OwnRedis;
    let proxy: TcpProxy;
    let cutOff: TestService;

    beforeAll(async () => {
      own = await OwnRedis.start();
      proxy = await TcpProxy.start(own.url);
      cutOff = await TestService.create({ beside: service, env: { REDIS_URL: proxy.address } });
    });
    afterAll(async () => {
      await cutOff.close();
      await proxy.cut();
      await own.stop();
    });

    const tenantThere = () => createTenant(cutOff, cutOff.make.workspace({ rateLimit: 3 }));
    const fourCalls = async (client: ApiClient) => {
      const answers: ApiResponse[] = [];
      for (let i = 0; i < 4; i++) answers.push(await client.get('/me'));
      return statusesOf(answers);
    };

    it('is counted by the process itself', async () => {
      const { client, conversation } = await tenantThere();
      await proxy.cut();
      expect(await fourCalls(client)).toEqual([200, 200, 200, 429]);
      const sent = await client.post(`/conversations/${conversation.id}/messages`, { body: 'Goes on' });
      expect(sent.status).toBe(201);
      const ready = await cutOff.client.send({ method: 'GET', path: '/health/ready' });
      expect([ready.status, ready.body.redis]).toEqual([200, 'down']);
    });

    it('lets a call pass after the wait it has named, however often it was refused', async () => {
      const limiter = cutOff.app.get(RateLimiter, { strict: false });
      const key = newId();
      const windowMs = 2_000;
      const hit = () => limiter.increment(key, windowMs, 1);
      let last = await hit();
      const end = performance.now() + windowMs;
      expect(last.isBlocked).toBe(false);
      while (performance.now() < end - 900) {
        await letTimePass(100);
        const secondsLeft = Math.ceil((end - performance.now()) / 1000);
        last = await hit();
        // A refusal that began a new window would name more seconds.
        expect(last.timeToBlockExpire).toBeLessThanOrEqual(Math.max(1, secondsLeft));
      }
      await letTimePass(last.timeToBlockExpire * 1000);
      expect((await hit()).isBlocked).toBe(false);
    });

    it('is shared again once it is back', async () => {
      await proxy.restore();
      await sharesCounts(cutOff, own.url);
    });

    it('is counted by the process itself when Redis hangs', async () => {
      const { client } = await tenantThere();
      proxy.freeze();
      expect(await fourCalls(client)).toEqual([200, 200, 200, 429]);
      proxy.thaw();
    });
  });

  it('does not need Redis to start, and finds it when it comes', async () => {
    const own = await OwnRedis.start();
    const proxy = await TcpProxy.start(own.url);
    await proxy.cut();
    const alone = await TestService.create({ beside: service, env: { REDIS_URL: proxy.address } });
    const { client, conversation } = await createTenant(alone);
    expect((await client.get(`/conversations/${conversation.id}`)).status).toBe(200);
    await proxy.restore();
    await waitFor('Redis to be found', async () => {
      const { body } = await alone.client.send({ method: 'GET', path: '/health/ready' });
      return body.redis === 'up';
    });
    await alone.close();
    await proxy.cut();
    await own.stop();
  });

  describe('of refused keys', () => {
    const ALLOWED = 120;
    const refuse = (client: ApiClient, times: number) =>
      Promise.all(Array.from({ length: times }, () => client.as({ key: generateApiKey() }).get('/me')));

    it('holds up an address that guesses, but nobody with a valid key', async () => {
      const proxied = await TestService.create({ beside: service, env: { TRUST_PROXY: '1' } });
      const from = (address: string) => proxied.client.with({ 'x-forwarded-for': address });
      const guesses = await refuse(from('198.51.100.1'), ALLOWED + 5);
      expect(count(guesses, 401)).toBe(ALLOWED);
      const heldUp = guesses.filter(({ status }) => status === 429);
      expect(heldUp).toHaveLength(5);
      for (const { body, headers } of heldUp) {
        expect(Number(headers['retry-after'])).toBeGreaterThan(0);
        expect(body).toEqual(
          errorBody('RATE_LIMITED', `Too many refused API keys. Retry in ${headers['retry-after']} s.`),
        );
      }
      const malformed = await from('198.51.100.1').as({ key: 'plk_x' }).get('/me');
      expect(malformed.status).toBe(429);

      expect(statusesOf(await refuse(from('198.51.100.2'), 1))).toEqual([401]);
      const { key } = await createTenant(proxied);
      expect((await from('198.51.100.1').as(key).get('/me')).status).toBe(200);
      await proxied.close();
    });

    it('holds up a whole /64 of IPv6', async () => {
      const proxied = await TestService.create({ beside: service, env: { TRUST_PROXY: '1' } });
      const from = (n: number, network = '2001:db8:7:1') =>
        proxied.client.with({ 'x-forwarded-for': `${network}::${n.toString(16)}` });
      const refuseOne = async (client: ApiClient) => (await refuse(client, 1))[0]!;
      const guesses = await Promise.all(
        Array.from({ length: ALLOWED + 5 }, (_, n) => refuseOne(from(n + 1))),
      );
      expect(count(guesses, 429)).toBe(5);
      expect((await refuseOne(from(1, '2001:db8:7:2'))).status).toBe(401);
      await proxied.close();
    });

    it('believes no header of an untrusted sender', async () => {
      const from = (i: number) => service.client.with({ 'x-forwarded-for': `203.0.113.${i}` });
      const guesses = await Promise.all(
        Array.from({ length: ALLOWED + 1 }, (_, i) => from(i).as({ key: generateApiKey() }).get('/me')),
      );
      expect(count(guesses, 429)).toBe(1);
    });

    it('reach PostgreSQL over one connection, whatever their number', async () => {
      const { client } = await createTenant(service);
      expect((await client.get('/me')).status).toBe(200);
      const blocker = new Client({ connectionString: service.stores.databaseUrl });
      await blocker.connect();
      await blocker.query('BEGIN');
      await blocker.query('LOCK TABLE api_key_hashes IN ACCESS EXCLUSIVE MODE');
      const waiting = () => countLockWaits(service);
      const guesses: Promise<ApiResponse[]>[] = [];
      for (let n = 0; n < 10; n++) {
        guesses.push(refuse(service.client, 10));
        await waitFor('a look-up', async () => (await waiting()) > 0);
        expect(await waiting()).toBe(1);
      }
      await blocker.query('ROLLBACK');
      await blocker.end();
      const statuses = new Set(statusesOf((await Promise.all(guesses)).flat()));
      // The count of refusals includes those of other tests; a look-up that has waited for 2 s gives up.
      for (const status of statuses) expect([401, 429, 503]).toContain(status);
    });

    it('hold up no key that is used for the first time, from the same address in the same moment', async () => {
      const { workspace } = await createTenant(service, service.make.workspace({ rateLimit: 10_000 }));
      const keys = await Promise.all(Array.from({ length: 10 }, () => service.make.apiKey(workspace)));
      const [guesses, ...answers] = await Promise.all([
        refuse(service.client, 500),
        ...keys.map((key) => service.client.as(key).get('/me')),
      ]);
      expect(count(guesses, 200)).toBe(0);
      expect(statusesOf(answers)).toEqual(Array(10).fill(200));
    });
  });
});
