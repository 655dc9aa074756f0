import { createConnection } from 'node:net';
import axios from 'axios';
import { Client } from 'pg';
import { contradictions } from '../support/integrity';
import { killWorkers } from '../support/killed-workers';
import { MessagingHost } from '../support/messaging-host';
import { waitForLockWait } from '../support/lock-waits';
import { Receiver } from '../support/receiver';
import { TestService } from '../support/service';
import { ServiceProcess } from '../support/service-process';
import { attemptsOf, deliveriesOf, endLeases, waitForDeliveries } from '../support/stored-deliveries';
import { subscribe } from '../support/webhook-workspace';
import { TcpProxy } from '../support/tcp-proxy';
import { waitFor } from '../support/wait';

/** Number of the events that a recovery makes deliveries of. */
const MISSED = 1_500;

/** Tests of the built service in processes of its own, which are ended in the middle of their work. */
describe('processes', () => {
  let host: MessagingHost;
  let receiver: Receiver;

  beforeAll(async () => {
    host = await MessagingHost.create();
    receiver = await Receiver.start();
  });
  beforeEach(() => {
    receiver.https.respond = (response) => response.end('ok');
  });

  it('loses no delivery to a worker that is killed in the middle of it: another one makes it', async () => {
    const subscription = await subscribe(host, receiver);
    const { workspace, conversation, endpoint, path } = subscription;
    receiver.https.respond = () => undefined;
    const killed = await ServiceProcess.start('worker', host.stores);
    await host.make.received(workspace, conversation);
    await receiver.waitForCount(1, path);
    killed.kill('SIGKILL');
    expect(await killed.exited).toEqual({ code: null, signal: 'SIGKILL' });
    receiver.https.respond = (response) => response.end('ok');
    const other = await ServiceProcess.start('worker', host.stores);

    const [delivered] = await waitForDeliveries(host, endpoint, 'SUCCEEDED', 1, 45_000);
    expect(delivered).toMatchObject({ attempt_count: 1 });
    expect(await attemptsOf(host, endpoint)).toHaveLength(1);
    const ids = receiver.received(path).map(({ headers }) => headers['x-service-delivery']);
    expect(ids).toEqual([delivered!.id, delivered!.id]);
    other.kill('SIGTERM');
    expect(await other.exited).toEqual({ code: 0, signal: null });
  }, 90_000);

  it('ends a worker only after what it has under way, recorded once', async () => {
    const subscription = await subscribe(host, receiver);
    const { workspace, conversation, endpoint, path } = subscription;
    receiver.https.respond = (response) => setTimeout(() => response.end('at last'), 3_000);
    const worker = await ServiceProcess.start('worker', host.stores);
    for (let n = 0; n < 3; n++) await host.make.received(workspace, conversation);
    await receiver.waitForCount(3, path);

    worker.kill('SIGTERM');

    expect(await worker.exited).toEqual({ code: 0, signal: null });
    const delivered = await waitForDeliveries(host, endpoint, 'SUCCEEDED', 3);
    expect(delivered.map((row) => row.attempt_count)).toEqual([1, 1, 1]);
    expect(await attemptsOf(host, endpoint)).toHaveLength(3);
    expect(receiver.received(path)).toHaveLength(3);
  }, 60_000);

  it('ends an API process only after the request under way is answered', async () => {
    const workspace = await host.make.workspace();
    await host.make.agent(workspace);
    const { key } = await host.make.apiKey(workspace);
    const conversation = await host.make.conversation(workspace);
    const api = await ServiceProcess.start('api', host.stores);
    const lock = new Client({ connectionString: host.stores.databaseUrl });
    await lock.connect();
    await lock.query('BEGIN');
    await lock.query('SELECT FROM conversations WHERE id = $1 FOR UPDATE', [conversation.id]);

    const answer = axios.post(
      `${api.url}/api/v1/conversations/${conversation.id}/messages`,
      { body: 'Held up' },
      { headers: { 'x-api-key': key }, proxy: false },
    );
    await waitForLockWait(host, 'the request');
    api.kill('SIGTERM');
    await waitFor('new connections to be refused', () => isRefused(api.port));
    await lock.query('COMMIT');
    await lock.end();

    expect(await answer).toMatchObject({ status: 201, data: { message: { body: 'Held up' } } });
    expect(await api.exited).toEqual({ code: 0, signal: null });
  }, 60_000);

  it('ends a worker that has nothing to do, and one that has lost Redis', async () => {
    const proxy = await TcpProxy.start(host.stores.redisUrl);
    const stores = { ...host.stores, redisUrl: proxy.address };
    const [idle, cutOff] = await Promise.all([
      ServiceProcess.start('worker', host.stores),
      ServiceProcess.start('worker', stores),
    ]);
    await proxy.cut();
    idle.kill('SIGTERM');
    cutOff.kill('SIGTERM');
    expect(await Promise.all([idle.exited, cutOff.exited])).toEqual([
      { code: 0, signal: null },
      { code: 0, signal: null },
    ]);
  }, 60_000);

  it('ends a worker whose Redis hangs only after what it has under way, recorded once', async () => {
    const subscription = await subscribe(host, receiver);
    const { workspace, conversation, endpoint, path } = subscription;
    receiver.https.respond = (response) => setTimeout(() => response.end('at last'), 3_000);
    const proxy = await TcpProxy.start(host.stores.redisUrl);
    const worker = await ServiceProcess.start('worker', { ...host.stores, redisUrl: proxy.address });
    await host.make.received(workspace, conversation);
    await receiver.waitForCount(1, path);

    proxy.freeze();
    worker.kill('SIGTERM');

    expect(await worker.exited).toEqual({ code: 0, signal: null });
    await proxy.cut();
    const [delivered] = await waitForDeliveries(host, endpoint, 'SUCCEEDED', 1);
    expect(delivered).toMatchObject({ attempt_count: 1 });
    expect(receiver.received(path)).toHaveLength(1);
  }, 60_000);

  it('counts each delivery of a recovery once whose workers are killed', async () => {
    const tenant = await subscribe(host, receiver, { events: ['message.created'] });
    await tenant.miss(MISSED);
    const recovery = await tenant.recover(tenant.endpoint, tenant.endpoint.createdAt);
    expect(recovery).toMatchObject({ total: MISSED });

    const received = () => Promise.resolve(receiver.received(tenant.path).length);
    await killWorkers(host.stores, {
      count: received,
      kills: [100, 700],
      all: MISSED,
      withinMs: 60_000,
    });
    expect(await tenant.recovery(recovery)).toMatchObject({ status: 'running' });

    await endLeases(host, tenant.endpoint);
    const last = await ServiceProcess.start('worker', host.stores);
    const counts = { recovered: MISSED, pending: 0, succeeded: MISSED, exhausted: 0, cancelled: 0 };
    expect(await tenant.waitForRecovery(recovery)).toMatchObject({ status: 'completed', ...counts });
    // What was under way when a worker was killed has been sent twice.
    expect(await received()).toBeGreaterThan(MISSED);
    expect(await contradictions((sql) => host.query(sql))).toEqual([]);
    last.kill('SIGTERM');
    expect(await last.exited).toEqual({ code: 0, signal: null });
  }, 180_000);
});

describe('an outage of Redis', () => {
  it('keeps no message from being accepted, nor from being delivered meanwhile, once', async () => {
    const host = await MessagingHost.create();
    const proxy = await TcpProxy.start(host.stores.redisUrl);
    const service = await TestService.create({
      role: 'all',
      beside: host,
      env: { REDIS_URL: proxy.address },
    });
    const receiver = await Receiver.start();
    try {
      const subscription = await subscribe(host, receiver);
      const { workspace, conversation, endpoint, path } = subscription;
      const client = service.client.as(await host.make.apiKey(workspace));
      const send = (body: string) => client.post(`/conversations/${conversation.id}/messages`, { body });
      expect(await send('Before')).toMatchObject({ status: 201 });
      await waitForDeliveries(host, endpoint, 'SUCCEEDED', 1);
      const paced = await subscription.addEndpoint(receiver.url('/paced'));
      await host.query('UPDATE webhook_endpoints SET rate_limit = 100 WHERE id = $1', [paced.id]);

      await proxy.cut();
      for (let n = 0; n < 3; n++) expect(await send(`Meanwhile ${n}`)).toMatchObject({ status: 201 });
      // The relay finds the events by polling, and its process serves the targets that it wakes itself.
      await waitForDeliveries(host, endpoint, 'SUCCEEDED', 4, 30_000);
      // A rate can't be kept without Redis. Its waiting deliveries hold no lease, so they start as soon as
      // Redis is back.
      await waitFor('what is held to a rate to be given back', async () => {
        const waiting = await deliveriesOf(host, paced);
        return waiting.length === 3 && waiting.every(({ lease_id }) => lease_id === null);
      });
      await proxy.restore();

      expect(await send('Afterwards')).toMatchObject({ status: 201 });
      await waitForDeliveries(host, endpoint, 'SUCCEEDED', 5, 30_000);
      expect(receiver.received(path)).toHaveLength(5);
      await waitForDeliveries(host, paced, 'SUCCEEDED', 4, 30_000);
    } finally {
      await service.close();
      await proxy.cut();
      await host.close();
      await receiver.stop();
    }
  }, 60_000);
});

function isRefused(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(port, '127.0.0.1');
    socket.once('connect', () => resolve(false)).once('error', () => resolve(true));
    socket.once('connect', () => socket.destroy());
  });
}
