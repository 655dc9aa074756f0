import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import axios, { AxiosResponse } from 'axios';
import { MessagingHost } from '../support/messaging-host';
import { Receiver } from '../support/receiver';
import { ServiceProcess } from '../support/service-process';
import { letTimePass, waitFor } from '../support/wait';
import { subscribe, Subscription } from '../support/webhook-workspace';

const PRELOAD = join(__dirname, '../support/shifted-clock.cjs');
const CLI = join(__dirname, '../../dist/cli.js');
const shiftedBy = (ms: number, starts: 'right' | 'wrong' = 'wrong') => ({
  NODE_OPTIONS: `--require ${PRELOAD}`,
  CLOCK_OFFSET_MS: String(ms),
  CLOCK_STARTS: starts,
});

describe("a process whose clock is not the database's", () => {
  let host: MessagingHost;
  let receiver: Receiver;
  let subscription: Subscription;
  const started: ServiceProcess[] = [];

  beforeAll(async () => {
    host = await MessagingHost.create();
    receiver = await Receiver.start();
  });
  beforeEach(async () => {
    subscription = await subscribe(host, receiver);
  });
  afterEach(async () => {
    for (const one of started) one.kill('SIGTERM');
    for (const one of started.splice(0)) expect(await one.exited).toEqual({ code: 0, signal: null });
  });

  async function start(role: 'api' | 'worker', env: Record<string, string>): Promise<ServiceProcess> {
    const one = await ServiceProcess.start(role, host.stores, env);
    started.push(one);
    return one;
  }

  const ready = (process: ServiceProcess): Promise<AxiosResponse> =>
    axios.get(`${process.url}/health/ready`, { proxy: false, validateStatus: null });

  const waitForReady = (process: ServiceProcess, status: number) =>
    waitFor(`readiness to be ${status}`, async () => (await ready(process)).status === status);

  async function send(process: ServiceProcess): Promise<AxiosResponse> {
    const { key } = await host.make.apiKey(subscription.workspace);
    const path = `/api/v1/conversations/${subscription.conversation.id}/messages`;
    return axios.post(
      `${process.url}${path}`,
      { body: 'Hello' },
      {
        headers: { 'x-api-key': key },
        proxy: false,
        validateStatus: null,
      },
    );
  }

  it('serves nothing as an API, until its clock is right', async () => {
    const api = await start('api', shiftedBy(5_000));
    expect(await ready(api)).toMatchObject({
      status: 503,
      data: { error: { details: [{ field: 'clock', message: "is more than 2 s from the database's" }] } },
    });
    const refused = await send(api);
    expect(refused).toMatchObject({ status: 503, data: { error: { code: 'UNAVAILABLE' } } });
    expect(refused.headers['retry-after']).toBe('2');
    const live = await axios.get(`${api.url}/health/live`, { proxy: false });
    expect(live.status).toBe(200);

    api.kill('SIGUSR2');
    await waitForReady(api, 200);
    expect(await send(api)).toMatchObject({ status: 201 });
  });

  it('serves nothing as soon as its clock jumps', async () => {
    const api = await start('api', shiftedBy(3_000, 'right'));
    expect(await ready(api)).toMatchObject({ status: 200, data: { clock: 'synchronized' } });
    expect(await send(api)).toMatchObject({ status: 201 });

    api.kill('SIGUSR2');
    await waitForReady(api, 503);
    expect(await send(api)).toMatchObject({ status: 503 });
  });

  it('serves while it is less than 2 s off', async () => {
    const api = await start('api', shiftedBy(1_500));
    expect(await ready(api)).toMatchObject({ status: 200 });
    expect(await send(api)).toMatchObject({ status: 201 });
  });

  it('refuses to run a command of the CLI', () => {
    const { databaseUrl, redisUrl } = host.stores;
    const env = { ...process.env, DATABASE_URL: databaseUrl, REDIS_URL: redisUrl, ...shiftedBy(5_000) };
    const { status, stdout, stderr } = spawnSync(process.execPath, [CLI, 'workspace', 'list'], { env });
    expect({ status, stdout: stdout.toString() }).toEqual({ status: 1, stdout: '' });
    expect(JSON.parse(stderr.toString())).toMatchObject({
      error: {
        code: 'UNAVAILABLE',
        message: "The clock of this machine is more than 2 s from the database's.",
      },
    });
  });

  it('claims nothing as a worker, and does what waits when its clock is right', async () => {
    const worker = await start('worker', shiftedBy(-5_000));
    expect(await ready(worker)).toMatchObject({ status: 503 });
    await subscription.message();
    // Several polls pass.
    await letTimePass(2_500);
    expect(receiver.received(subscription.path)).toEqual([]);
    const leased = 'SELECT FROM event_queue WHERE tenant_id = $1 AND lease_id IS NOT NULL';
    expect(await host.query(leased, [subscription.id])).toEqual([]);

    worker.kill('SIGUSR2');
    await receiver.waitForCount(1, subscription.path);
  });

  it('leaves retries alone whose time has come', async () => {
    receiver.https.respond = (response) => response.writeHead(500).end();
    const worker = await start('worker', shiftedBy(60_000, 'right'));
    await subscription.message();
    await receiver.waitForCount(1, subscription.path);
    await waitFor('the retry to be scheduled', async () => {
      const rows = await host.query(
        'SELECT FROM pending_deliveries WHERE tenant_id = $1 AND attempt_count = 1 AND lease_id IS NULL',
        [subscription.id],
      );
      return rows.length === 1;
    });
    worker.kill('SIGUSR2');
    await waitForReady(worker, 503);
    await host.query('UPDATE pending_deliveries SET next_attempt_at = now()');
    await letTimePass(2_500);
    expect(receiver.received(subscription.path)).toHaveLength(1);

    worker.kill('SIGUSR2');
    await receiver.waitForCount(2, subscription.path);
    receiver.https.respond = (response) => response.end('ok');
  });
});
