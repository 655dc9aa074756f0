import { setImmediate } from 'node:timers/promises';
import { Database } from '../../src/database/database';
import { Client } from 'pg';
import { newId } from '../../src/common/ids';
import { Metrics } from '../../src/metrics/metrics';
import { Release } from '../../src/common/work-budget';
import { WorkBudgets } from '../../src/http/limits/work-budgets';
import { RedisConnection } from '../../src/redis/redis-connections';
import { ApiResponse } from '../support/api-client';
import { DnsStub } from '../support/dns-stub';
import { errorBody } from '../support/errors';
import { countLockWaits } from '../support/lock-waits';
import { createTenant, Tenant } from '../support/routes';
import { openRedis } from '../support/redis-connections';
import { TestService } from '../support/service';
import { letTimePass, waitFor } from '../support/wait';

/** Number of slots of each of two workspaces: half of REQUEST_CONCURRENCY and of SEARCH_CONCURRENCY. */
const SHARE = 2;
const WAITING = 500;

const statusesOf = (answers: ApiResponse[]) => [...new Set(answers.map(({ status }) => status))].sort();

describe('what a process does at once', () => {
  let service: TestService;
  let loud: Tenant;
  let quiet: Tenant;
  let blocker: Client;
  let redis: RedisConnection;
  let dns: DnsStub;

  beforeAll(async () => {
    dns = await DnsStub.start();
    const env = {
      REQUEST_CONCURRENCY: `${2 * SHARE}`,
      SEARCH_CONCURRENCY: `${2 * SHARE}`,
      WEBHOOK_DNS_SERVERS: dns.server,
    };
    service = await TestService.create({ env });
    const tenant = () => createTenant(service, service.make.workspace({ rateLimit: 10_000 }));
    [loud, quiet] = [await tenant(), await tenant()];
    blocker = new Client({ connectionString: service.stores.databaseUrl });
    await blocker.connect();
    redis = openRedis(service.stores.redisUrl);
  });
  afterAll(async () => {
    redis.disconnect();
    await blocker.end();
  });
  afterEach(() => blocker.query('ROLLBACK'));

  const lockConversationOf = async ({ workspace, conversation }: Tenant) => {
    await blocker.query('BEGIN');
    await blocker.query('SELECT FROM conversations WHERE tenant_id = $1 AND id = $2 FOR UPDATE', [
      workspace.id,
      conversation.id,
    ]);
  };
  const patch = ({ client, conversation }: Tenant) =>
    client.patch(`/conversations/${conversation.id}`, { status: 'OPEN' });
  const times = <T>(n: number, make: () => Promise<T>) => Array.from({ length: n }, make);
  const blocked = () => countLockWaits(service);
  const hungUp = async () => {
    const { values } = await service.app.get(Metrics, { strict: false }).httpRequests.get();
    const counts = values.filter(({ labels, metricName }) =>
      Boolean(metricName?.endsWith('_count') && Number(labels.status) === 499),
    );
    return counts.reduce((sum, { value }) => sum + value, 0);
  };
  const refused = async (kind: string, limit: string) => {
    const { values } = await service.app.get(Metrics, { strict: false }).workRefused.get();
    return values.find(({ labels }) => labels.kind === kind && labels.limit === limit)?.value ?? 0;
  };

  /** Sends requests of a workspace at once. Who waits in its line for 2 s is not refused at once. */
  function crowd(tenant: Tenant, count: number) {
    const refusals = { atOnce: 0 };
    const answers = Promise.all(
      times(count, async () => {
        const startedAt = performance.now();
        const answer = await patch(tenant);
        if (answer.status === 429 && performance.now() - startedAt < 1_900) refusals.atOnce += 1;
        return answer;
      }),
    );
    return { answers, refusals };
  }

  it("is half for one workspace's requests at most: more of them wait, and others go on", async () => {
    await lockConversationOf(loud);
    const { answers, refusals } = crowd(loud, 10 * SHARE);
    await waitFor('requests that hold connections', async () => (await blocked()) === SHARE);
    for (let n = 0; n < 5; n++) {
      expect((await patch(quiet)).status).toBe(200);
      expect(await blocked()).toBeLessThanOrEqual(SHARE);
    }
    await blocker.query('ROLLBACK');
    // Requests that waited for the row for 2 s are answered with 503, those in the line with 429.
    expect([200, 429, 503]).toEqual(expect.arrayContaining(statusesOf(await answers)));
    expect(refusals.atOnce).toBe(0);
  });

  it('is not given to a request whose client has hung up', async () => {
    // Under so low a limit no call is counted before it is made.
    const caller = await createTenant(service, service.make.workspace({ rateLimit: 400 }));
    await lockConversationOf(caller);
    const path = `${service.baseUrl}/api/v1/conversations/${caller.conversation.id}`;
    const headers = { authorization: `Bearer ${caller.key.key}`, 'content-type': 'application/json' };
    const close = (aborter: AbortController) =>
      fetch(path, { method: 'PATCH', headers, body: '{"status":"CLOSED"}', signal: aborter.signal });
    const calls = async () =>
      Number(await redis.get(`rate:${caller.workspace.id}:/api/v1/conversations/:id`));
    const before = await calls();
    const answers = Promise.all(times(SHARE + 1, () => patch(caller)));
    await waitFor('a request in the line', async () => (await calls()) === before + SHARE + 1);
    const aborter = new AbortController();
    const abandoned = Promise.allSettled(times(5, () => close(aborter)));
    await waitFor('five more', async () => (await calls()) === before + SHARE + 6);
    aborter.abort();
    await abandoned;
    await waitFor('the server to notice', async () => (await hungUp()) === 5);
    await blocker.query('ROLLBACK');
    await answers;
    expect((await caller.client.get(`/conversations/${caller.conversation.id}`)).body.status).toBe('OPEN');
  });

  it('is given back while a request waits for a name server', async () => {
    const name = 'slow.shop.example';
    dns.set(name, { A: 'WAIT', AAAA: 'WAIT' });
    const endpoint = { url: `https://${name}/hook`, events: ['message.created'] };
    const answers = Promise.all(times(3 * SHARE, () => loud.client.post('/webhook-endpoints', endpoint)));
    await waitFor('all look-ups', () => dns.questions.length === 2 * 3 * SHARE);
    expect((await patch(loud)).status).toBe(200);
    dns.set(name, { A: ['127.0.0.1'] });
    expect(statusesOf(await answers)).toEqual([201]);
  });

  it('refuses a workspace whose line is full with 429, and nobody else', async () => {
    const before = await refused('requests', 'key');
    await lockConversationOf(loud);
    const more = 20;
    const { answers, refusals } = crowd(loud, SHARE + WAITING + more);
    await waitFor('refusals', async () => (await refused('requests', 'key')) > before);
    expect((await patch(quiet)).status).toBe(200);
    await blocker.query('ROLLBACK');
    // Who waits in the line for 2 seconds is refused as well, and who waits for the row as long gets a 503.
    expect([
      [200, 429],
      [200, 429, 503],
    ]).toContainEqual(statusesOf(await answers));
    expect(refusals.atOnce).toBeLessThanOrEqual(more);
    const over = (await answers).filter(({ status }) => status === 429);
    for (const { body, headers } of over) {
      expect(Number(headers['retry-after'])).toBeGreaterThanOrEqual(1);
      expect(Number(headers['retry-after'])).toBeLessThanOrEqual(10);
      expect(body).toEqual(
        errorBody(
          'RATE_LIMITED',
          `Too many requests of this workspace at once. Retry in ${headers['retry-after']} s.`,
        ),
      );
      expect(headers['x-ratelimit-limit']).toBe('10000');
      expect(Number(headers['x-ratelimit-remaining'])).toBeGreaterThan(0);
    }
  });

  describe('of searches', () => {
    const search = ({ client }: Tenant) => client.get('/contacts?q=somebody');
    /** Searches for a term that no index has. */
    const walk = ({ client }: Tenant) => client.get('/contacts?q=so');

    beforeEach(async () => {
      await blocker.query('BEGIN');
      await blocker.query('LOCK TABLE contacts IN ACCESS EXCLUSIVE MODE');
    });

    it('is half for one workspace at most, and keeps none of its other requests waiting', async () => {
      const answers = Promise.all(times(4 * SHARE, () => search(loud)));
      await waitFor('searches that hold connections', async () => (await blocked()) === SHARE);
      expect((await loud.client.get('/conversations')).status).toBe(200);
      expect((await patch(quiet)).status).toBe(200);
      expect(await blocked()).toBeLessThanOrEqual(SHARE);
      await blocker.query('ROLLBACK');
      expect([[200], [200, 503]]).toContainEqual(statusesOf(await answers));
    });

    it('is held by a search while it runs a statement, and not while it waits for its workspace’s turn', async () => {
      const walks = Promise.all([loud, quiet].flatMap((tenant) => times(SHARE, () => walk(tenant))));
      await waitFor('a step of each', async () => (await blocked()) === 2);
      const acquired = service.app.get(WorkBudgets, { strict: false }).acquire('searches', newId());
      // What is free is acquired before anything else happens.
      const release = await Promise.race([acquired, setImmediate()]);
      expect(release).toBeInstanceOf(Function);
      (release as Release)();
      await blocker.query('ROLLBACK');
      expect([[200], [200, 503], [503]]).toContainEqual(statusesOf(await walks));
    });

    it('is not waited for by a search whose client has hung up', async () => {
      const before = await refused('walks', 'key');
      const first = walk(loud);
      await waitFor('its step', async () => (await blocked()) === 1);
      const aborter = new AbortController();
      const abandoned = Promise.allSettled(
        times(5, () =>
          fetch(`${service.baseUrl}/api/v1/contacts?q=so`, {
            headers: { authorization: `Bearer ${loud.key.key}` },
            signal: aborter.signal,
          }),
        ),
      );
      await letTimePass(300);
      aborter.abort();
      await abandoned;
      await waitFor('the places in the line', async () => (await refused('walks', 'key')) === before + 5);
      await blocker.query('ROLLBACK');
      expect([200, 503]).toContain((await first).status);
    });

    it('ends for a search that takes too long, with an answer that says so', async () => {
      const startedAt = performance.now();
      const { status, body, headers } = await search(loud);
      expect(performance.now() - startedAt).toBeGreaterThan(1_400);
      expect(status).toBe(503);
      expect(body).toEqual(
        errorBody('UNAVAILABLE', 'The search takes too long. Search for more of the text.'),
      );
      expect(headers['retry-after']).toBe('2');
      expect(await blocked()).toBe(0);
    });
  });

  it('leaves other statements on the connection of a search their own limit', async () => {
    const alone = await TestService.create({ beside: service, env: { DATABASE_POOL_SIZE: '2' } });
    try {
      const client = alone.client.as(loud.key);
      for (let n = 0; n < 4; n++) expect((await client.get('/contacts?q=somebody')).status).toBe(200);
      const limits = await Promise.all(
        times(2, () =>
          alone.app
            .get(Database)
            .query<{ limit: string }>(`SELECT current_setting('statement_timeout') AS limit`),
        ),
      );
      expect(limits).toEqual([[{ limit: '5s' }], [{ limit: '5s' }]]);
    } finally {
      await alone.close();
    }
  });
});
