import Redis from 'ioredis';
import { OwnRedis } from '../support/own-redis';
import { createTenant } from '../support/routes';
import { readMetric } from '../support/scraped-metrics';
import { TestService } from '../support/service';
import { ServiceProcess } from '../support/service-process';
import { stopAll } from '../support/stop-at-end';
import { TestDashboard } from '../support/test-dashboard';
import { waitFor } from '../support/wait';
import { TestWidget } from '../support/widget';
import { testSilences } from './silences';

/** Time of two heartbeats of a stream, or of two reads of what it missed. */
const TWO_BEATS_MS = 30_000;

/** Scenarios of the table of silences in which a process or a server is killed. */
describe('while a part is killed', () => {
  let redis: OwnRedis;

  beforeEach(async () => {
    redis = await OwnRedis.start();
  });
  afterEach(stopAll);

  /** Starts an API beside a worker that is killed at once. */
  async function startWithoutWorker() {
    const api = await TestService.create({ env: { METRICS_PORT: '0' } });
    await (await ServiceProcess.start('worker', api.stores)).end('SIGKILL');
    return { api, tenant: await createTenant(api) };
  }
  const startWithRedis = (role: 'api' | 'all') => TestService.create({ role, env: { REDIS_URL: redis.url } });
  const readyOf = async (url: string) => {
    const answer = await fetch(`${url}/health/ready`);
    const body = (await answer.json()) as { redis?: string };
    return { status: answer.status, redis: body.redis };
  };

  /** Waits until a process listens to a channel, because a signal that is sent before is lost. */
  async function listenedTo(url: string, pattern: string) {
    const observer = new Redis(url);
    const list = async () => (await observer.pubsub('CHANNELS', pattern)) as string[];
    await waitFor('a subscription', async () => (await list()).length > 0);
    observer.disconnect();
  }

  testSilences(
    'processes',
    {
      'worker: owner': async () => {
        const { api, tenant } = await startWithoutWorker();
        const age = () => readMetric(api, 'outbox_oldest_age_seconds');
        await api.make.received(tenant.workspace, tenant.conversation);
        await waitFor('an event that waits for a second', async () => (await age()) > 1);
        await ServiceProcess.start('worker', api.stores);
        await waitFor('no event to wait', async () => (await age()) === 0);
      },

      'worker: agent': async () => {
        const { api, tenant } = await startWithoutWorker();
        const visitor = await (await TestWidget.connect(api, tenant.workspace)).visitor();
        await visitor.post('m-1');
        const path = `/conversations/${(await visitor.open()).body.conversationId}/messages`;
        await tenant.client.post(path, { body: 'Yes, we do.' });
        const status = async () => (await tenant.client.get(path)).body.data[0].delivery.status as string;
        expect(await status()).toBe('QUEUED');
        await ServiceProcess.start('worker', api.stores);
        await waitFor('the reply to be sent', async () => (await status()) === 'SENT');
      },

      'redis: owner': async () => {
        const api = await startWithRedis('api');
        const worker = await ServiceProcess.start('worker', api.stores, { REDIS_URL: redis.url });
        await redis.kill();
        await waitFor(
          'Redis to be reported as down',
          async () => (await readyOf(api.baseUrl)).redis === 'down',
        );
        expect((await readyOf(api.baseUrl)).status).toBe(200);
        await waitFor('a worker that is not ready', async () => (await readyOf(worker.url)).status === 503);
        await redis.restart();
        for (const url of [api.baseUrl, worker.url])
          await waitFor('Redis to be reported as up', async () => {
            const { status, redis: state } = await readyOf(url);
            return status === 200 && state === 'up';
          });
      },

      'redis: agent': async () => {
        const api = await startWithRedis('api');
        const dashboard = await TestDashboard.create(api.stores, { REDIS_URL: redis.url });
        const workspace = await api.make.workspace();
        const conversation = await api.make.conversation(workspace);
        const browser = await dashboard.logIn(await api.make.agent(workspace, { role: 'AGENT' }));
        const stream = await browser.stream(`/api/workspaces/${workspace.id}/inbox/stream`);
        await stream.next('ready');
        const toldOf = () =>
          stream
            .listEvents('changed')
            .flatMap(({ data }) => (data as { changes: { eventId?: string }[] | null }).changes)
            .map((change) => change?.eventId);
        const receiveAndHear = async () => {
          const { id } = await api.make.received(workspace, conversation);
          const [event] = await api.query<{ id: string }>(
            `SELECT id FROM events WHERE tenant_id = $1 AND data->'message'->>'id' = $2`,
            [workspace.id, id],
          );
          await waitFor('the message to be told of', () => toldOf().includes(event!.id), TWO_BEATS_MS);
        };
        await redis.kill();
        await receiveAndHear();
        await redis.restart();
        await receiveAndHear();
        stream.close();
      },

      'redis: visitor': async () => {
        const service = await startWithRedis('all');
        const { client, workspace } = await createTenant(service);
        const visitor = await (await TestWidget.connect(service, workspace)).visitor();
        await visitor.post('m-1');
        const { conversationId } = (await visitor.open()).body;
        const stream = await visitor.stream();
        await stream.next('ready');
        await redis.kill();
        await client.post(`/conversations/${conversationId}/messages`, { body: 'Yes, we do.' });
        await waitFor(
          'a heartbeat that tells of the answer',
          () => stream.listEvents('heartbeat').some(({ data }) => data.sequence === 2),
          TWO_BEATS_MS,
        );
        expect((await visitor.history()).body.data[0].body).toBe('Yes, we do.');
        await redis.restart();
        await listenedTo(redis.url, 'widget:visitor:*');
        await client.post(`/conversations/${conversationId}/messages`, { body: 'From stock.' });
        // The reply waits for the first one, whose next attempt comes within 16 seconds.
        await waitFor(
          'the reply on the stream',
          () => stream.listEvents('message').some(({ data }) => data.message.body === 'From stock.'),
          TWO_BEATS_MS,
        );
        stream.close();
      },
    },
    120_000,
  );
});
