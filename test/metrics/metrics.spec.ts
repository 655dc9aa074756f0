import { readFileSync } from 'node:fs';
import { rename, statfs } from 'node:fs/promises';
import { resolve } from 'node:path';
import axios from 'axios';
import { Client } from 'pg';
import { Config } from '../../src/config/config';
import { Database } from '../../src/database/database';
import { MetricsServer } from '../../src/operations/metrics/metrics-server';
import { CreatedWebhookEndpoint } from '../../src/webhooks/endpoints/webhook-endpoint.dto';
import { waitForLockWait } from '../support/lock-waits';
import { Receiver } from '../support/receiver';
import { createTenant, Tenant } from '../support/routes';
import { metricsAddressOf, readMetric, scrape } from '../support/scraped-metrics';
import { ServiceOptions, TestService } from '../support/service';
import { waitFor } from '../support/wait';
import { WebhookWorkspace } from '../support/webhook-workspace';

const DOCUMENT = resolve(__dirname, '../../docs/reference/metrics.md');
/** Names of the standard metrics, which the library provides. */
const STANDARD = /^(process|nodejs)_/;

const start = (options: ServiceOptions = {}) =>
  TestService.create({ ...options, env: { METRICS_PORT: '0', ...options.env } });

/** Returns by how much each series changes while `work` runs. */
async function moved(
  service: TestService,
  series: string[],
  work: () => Promise<unknown>,
): Promise<number[]> {
  const before = await Promise.all(series.map((one) => readMetric(service, one)));
  await work();
  const after = await Promise.all(series.map((one) => readMetric(service, one)));
  return after.map((value, i) => value - before[i]!);
}

async function namesOf(service: TestService): Promise<string[]> {
  return (await scrape(service)).split('\n').flatMap((line) => /^# TYPE (\S+)/.exec(line)?.[1] ?? []);
}

describe('of the API', () => {
  let service: TestService;
  let tenant: Tenant;

  beforeAll(async () => {
    service = await start();
    tenant = await createTenant(service);
  });
  afterAll(() => service.close());

  const requests = (method: string, route: string, status: number) =>
    `http_request_duration_seconds_count{method="${method}",route="${route}",status="${status}"}`;

  const requestSeries = async () =>
    (await scrape(service))
      .split('\n')
      .filter((line) => line.startsWith('http_request_duration_seconds_count'));

  it('count requests by route template, method and status', async () => {
    const path = `/conversations/${tenant.conversation.id}`;
    const series = [
      requests('GET', '/api/v1/conversations/:id', 200),
      requests('PATCH', '/api/v1/conversations/:id', 400),
      requests('GET', '/api/v1/me', 401),
    ];
    const differences = await moved(service, series, async () => {
      await tenant.client.get(path);
      await tenant.client.get(path);
      await tenant.client.patch(path, {});
      await service.client.get('/me');
    });
    expect(differences).toEqual([2, 1, 1]);
  });

  it('tell the space of the disk with the files, and no old one while the folder is away', async () => {
    const { fileStore } = service.app.get(Config);
    if (!('directory' in fileStore)) throw new Error('the files of tests are on a disk');
    const bytes = () =>
      Promise.all(
        ['free', 'total'].map((state) => readMetric(service, `file_store_bytes{state="${state}"}`)),
      );
    const { blocks, bsize } = await statfs(fileStore.directory);
    const [free, total] = await bytes();
    expect(total).toBe(blocks * bsize);
    expect(free).toBeGreaterThan(0);
    expect(free).toBeLessThanOrEqual(total!);
    await rename(fileStore.directory, `${fileStore.directory}-away`);
    expect(await bytes()).toEqual([Number.NaN, Number.NaN]);
    await rename(`${fileStore.directory}-away`, fileStore.directory);
    expect(await bytes()).toEqual([expect.any(Number), total]);
  });

  it('make no new series of ids, nor of paths that are no route', async () => {
    await tenant.client.get('/conversations/none');
    await tenant.client.get('/nowhere');
    const before = (await requestSeries()).map((line) => line.split('}')[0]);
    const unknown = requests('GET', 'none', 404);
    const [difference] = await moved(service, [unknown], async () => {
      for (let i = 0; i < 5; i++) {
        await tenant.client.get(`/conversations/${i}`);
        await tenant.client.get(`/nowhere/${i}`);
        await tenant.client.send({ method: 'GET', path: `/${i}.php` });
      }
    });
    expect(difference).toBe(10);
    expect((await requestSeries()).map((line) => line.split('}')[0])).toEqual(before);
    expect(await scrape(service)).not.toContain('nowhere');
  });

  it('count a caller that hung up apart from one that was answered', async () => {
    const gone = requests('GET', '/api/v1/contacts', 499);
    const client = new Client({ connectionString: service.stores.databaseUrl });
    await client.connect();
    await client.query('BEGIN');
    await client.query('LOCK TABLE contacts');
    const hangUp = new AbortController();
    const impatient = axios.get(`${service.baseUrl}/api/v1/contacts`, {
      headers: { authorization: `Bearer ${tenant.key.key}` },
      proxy: false,
      signal: hangUp.signal,
    });
    impatient.catch(() => undefined);
    await waitForLockWait(service, 'the request');
    hangUp.abort();
    await expect(impatient).rejects.toThrow('canceled');
    await client.end();
    await waitFor('its figure', async () => (await readMetric(service, gone)) === 1);
  });

  it('time every request', async () => {
    const took = 'http_request_duration_seconds_sum{method="GET",route="/api/v1/contacts",status="200"}';
    const [seconds] = await moved(service, [took], () => tenant.client.get('/contacts'));
    expect(seconds).toBeGreaterThan(0);
  });

  it('count what is waiting in the outbox, and for how long', async () => {
    const figures = ['outbox_depth', 'outbox_oldest_age_seconds'];
    const [depth] = await moved(service, figures, () =>
      service.make.sent(tenant.workspace, tenant.conversation),
    );
    expect(depth).toBe(1);
    await service.query(`UPDATE event_queue SET queued_at = now() - interval '1 hour'`);
    expect(await readMetric(service, 'outbox_oldest_age_seconds')).toBeGreaterThanOrEqual(3600);
    await service.query('DELETE FROM event_queue');
    expect(await Promise.all(figures.map((figure) => readMetric(service, figure)))).toEqual([0, 0]);
  });

  it('count the open alerts of each kind', async () => {
    const figures = ['TRIAL_ENDING', 'FILES_NEARLY_FULL', 'KEY_ENDING'].map(
      (kind) => `alerts_open{kind="${kind}"}`,
    );
    const differences = await moved(service, figures, async () => {
      for (const { workspace } of [tenant, await createTenant(service)])
        await service.query(
          `INSERT INTO alerts (tenant_id, id, kind, subject_id, opened_at, resolved_at) VALUES
             ($1, gen_random_uuid(), 'TRIAL_ENDING', $1, now(), NULL),
             ($1, gen_random_uuid(), 'TRIAL_ENDING', $1, now(), now()),
             ($1, gen_random_uuid(), 'KEY_ENDING', $1, now(), now()),
             ($1, gen_random_uuid(), 'OF_A_LATER_VERSION', $1, now(), NULL)`,
          [workspace.id],
        );
    });
    expect(differences).toEqual([2, 0, 0]);
    expect(await scrape(service)).not.toContain('OF_A_LATER_VERSION');
  });

  it('show the connections to the database', async () => {
    const state = (name: string) => readMetric(service, `database_pool_connections{state="${name}"}`);
    expect((await state('busy')) + (await state('idle'))).toBeGreaterThan(0);
    expect(await state('waiting')).toBe(0);
    const lock = new Client({ connectionString: service.stores.databaseUrl });
    await lock.connect();
    await lock.query('SELECT pg_advisory_lock(1)');
    const blocked = Array.from({ length: 15 }, () =>
      service.app.get(Database).query('SELECT pg_advisory_xact_lock_shared(1)'),
    );
    // The pool has ten connections, and the scrape itself uses none.
    const figures = await scrape(service);
    await lock.end();
    await Promise.all(blocked);
    expect(figures).toMatch(/^database_pool_connections\{state="busy"\} 10$/m);
    expect(figures).toMatch(/^database_pool_connections\{state="waiting"\} 5$/m);
  });

  it('show how far the event loop lags behind', async () => {
    expect(await scrape(service)).toMatch(/^nodejs_eventloop_lag_p99_seconds \d/m);
  });

  it('are served nowhere else, and nothing else beside them', async () => {
    const get = (url: string) => axios.get(url, { proxy: false, validateStatus: () => true });
    const { port } = metricsAddressOf(service);
    expect((await get(`${service.baseUrl}/metrics`)).status).toBe(404);
    expect((await get(`http://127.0.0.1:${port}/`)).status).toBe(404);
    expect((await get(`http://127.0.0.1:${port}/api/v1/me`)).status).toBe(404);
  });

  it('are served nowhere at all without a port', async () => {
    const silent = await TestService.create({ beside: service });
    expect(silent.app.get(MetricsServer).address).toBeNull();
    await silent.close();
  });

  it('count how often the limiter does without Redis', async () => {
    const cutOff = await start({ beside: service, env: { REDIS_URL: 'redis://127.0.0.1:1' } });
    const [fallbacks] = await moved(cutOff, ['rate_limiter_fallbacks_total'], () =>
      cutOff.client.as(tenant.key).get('/me'),
    );
    expect(fallbacks).toBe(1);
    await cutOff.close();
  });

  it('are there while the database does not answer, except for what only it knows', async () => {
    const client = new Client({ connectionString: service.stores.databaseUrl });
    await client.connect();
    await client.query('BEGIN');
    await client.query('LOCK TABLE event_queue');
    const figures = await scrape(service);
    await client.end();
    expect(figures).toMatch(/^database_pool_connections\{state="busy"\} \d+$/m);
    expect(figures).toMatch(/^outbox_depth nan$/im);
    await waitFor('the database', async () => (await readMetric(service, 'outbox_depth')) >= 0);
  });
});

describe('of a worker', () => {
  let service: TestService;
  let tenant: WebhookWorkspace;
  let receiver: Receiver;
  let endpoint: CreatedWebhookEndpoint;

  beforeAll(async () => {
    service = await start({ role: 'all' });
  });
  afterAll(() => service.close());

  beforeEach(async () => {
    receiver = await Receiver.start();
    tenant = await WebhookWorkspace.create(service);
    endpoint = await tenant.addEndpoint(receiver.url());
  });
  afterEach(() => receiver.stop());

  /**
   * Waits for a figure to rise. It is counted after the attempt is stored, so a moment after the attempt can
   * be seen.
   */
  const waitForRise = async (series: string, from: number) =>
    waitFor(`a rise of ${series}`, async () => (await readMetric(service, series)) > from);

  it('count what is relayed, attempted and delivered, and how long it took', async () => {
    const series = [
      'webhook_attempts_total{outcome="succeeded"}',
      'webhook_deliveries_finished_total{status="succeeded"}',
      'webhook_delivery_latency_seconds_count',
    ];
    const latency = 'webhook_delivery_latency_seconds_sum';
    const [relayedBefore, latencyBefore] = [
      await readMetric(service, 'outbox_events_relayed_total'),
      await readMetric(service, latency),
    ];
    const before = await readMetric(service, series[2]!);
    const differences = await moved(service, series, async () => {
      await tenant.message();
      await waitForRise(series[2]!, before);
    });
    expect(differences).toEqual([1, 1, 1]);
    expect(await readMetric(service, 'outbox_events_relayed_total')).toBeGreaterThan(relayedBefore);
    expect(await readMetric(service, latency)).toBeGreaterThan(latencyBefore);
  });

  it('count failures by their class, retries, and what is exhausted', async () => {
    receiver.https.respond = (response) => response.writeHead(503).end();
    const exhausted = 'webhook_deliveries_finished_total{status="exhausted"}';
    const series = [
      'webhook_attempts_total{outcome="status"}',
      'webhook_retries_scheduled_total',
      exhausted,
      'webhook_delivery_latency_seconds_count',
    ];
    const before = await readMetric(service, exhausted);
    const differences = await moved(service, series, async () => {
      await tenant.exhaust(endpoint);
      await waitForRise(exhausted, before);
    });
    expect(differences).toEqual([2, 1, 1, 0]);
  });

  it('count a broken connection as what it is', async () => {
    receiver.https.respond = (response) => response.socket!.destroy();
    const connection = 'webhook_attempts_total{outcome="connection"}';
    const before = await readMetric(service, connection);
    await tenant.message();
    await waitForRise(connection, before);
  });

  it('show what is under way', async () => {
    const inFlight = 'webhook_deliveries_in_flight';
    let answer = () => {};
    receiver.https.respond = (response) => (answer = () => response.end());
    await tenant.message();
    await receiver.waitForCount(1);
    expect(await readMetric(service, inFlight)).toBe(1);
    answer();
    await waitFor('its end', async () => (await readMetric(service, inFlight)) === 0);
  });

  it('count what is taken over from a worker that is gone', async () => {
    const expired = 'webhook_leases_expired_total';
    receiver.https.respond = (response) => response.writeHead(503).end();
    await tenant.message();
    await tenant.waitForDelivery(endpoint, 'has failed', ({ attempts }) => attempts.length > 0);
    receiver.https.respond = (response) => response.end();
    const [difference] = await moved(service, [expired], async () => {
      await service.query(
        `UPDATE pending_deliveries SET lease_id = endpoint_id, next_attempt_at = now() - interval '1 second'
         WHERE endpoint_id = $1`,
        [endpoint.id],
      );
      await tenant.waitForStatus(endpoint, 'succeeded');
    });
    expect(difference).toBe(1);
  });

  it('are the ones that docs/reference/metrics.md lists, and all of them', async () => {
    const listed = [...readFileSync(DOCUMENT, 'utf8').matchAll(/^\| `([a-z0-9_]+)`/gm)].map(
      ([, name]) => name!,
    );
    const served = await namesOf(service);
    expect(listed.filter((name) => STANDARD.test(name) && !served.includes(name))).toEqual([]);
    const own = (names: string[]) => names.filter((name) => !STANDARD.test(name)).sort();
    expect(own(listed)).toEqual(own(served));
  });
});
