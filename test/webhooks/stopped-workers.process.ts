import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { Client } from 'pg';
import { SYSTEM } from '../../src/access/principal';
import { WorkspacesService } from '../../src/workspaces/workspaces.service';
import { MessagingHost } from '../support/messaging-host';
import { Receiver } from '../support/receiver';
import { environmentOf, ServiceProcess } from '../support/service-process';
import { IS_CLAIM, stopAfterUpdate, WatchedUpdate } from '../support/stopped-updates';
import { letTimePass } from '../support/wait';
import { subscribe, Subscription } from '../support/webhook-workspace';

const CLI = join(__dirname, '../../dist/cli.js');
/** Time of several polls, in which one would have sent what is due. */
const SEVERAL_POLLS_MS = 2_500;

/** A worker that is stopped by SIGSTOP during a claim. A claim of several packets then holds locks. */
describe('a worker that is stopped between two statements', () => {
  let host: MessagingHost;
  let receiver: Receiver;
  let subscription: Subscription;
  let worker: ServiceProcess;
  let gate: Client;

  beforeEach(async () => {
    host = await MessagingHost.create();
    receiver = await Receiver.start();
    subscription = await subscribe(host, receiver, { events: ['message.created'] });
    worker = await ServiceProcess.start('worker', host.stores);
    gate = new Client({ connectionString: host.stores.databaseAdminUrl });
    await gate.connect();
  });
  afterEach(async () => {
    worker.kill('SIGCONT');
    worker.kill('SIGTERM');
    expect(await worker.exited).toEqual({ code: 0, signal: null });
    await gate.end();
    await host.close();
    await receiver.stop();
  });

  const stopAfter = (update: WatchedUpdate, work: () => Promise<unknown>, stop: () => void) =>
    stopAfterUpdate({ service: host, gate }, update, work, stop);

  const stopAtClaim = (table: string, work: () => Promise<unknown>, atCommit = false) =>
    stopAfter({ table, atCommit, when: IS_CLAIM }, work, () => worker.kill('SIGSTOP'));

  const sendOne = () => subscription.message();
  const failOne = async () => {
    receiver.https.respond = (response) => response.writeHead(500).end();
    await subscription.message();
    await receiver.waitForCount(1, subscription.path);
  };
  const deactivate = () => subscription.deactivate(subscription.endpoint);
  const moveAddress = () => {
    const { endpoints, endpoint, id } = subscription;
    const settings = { version: 1, url: receiver.url('/moved') };
    return endpoints.update(id, endpoint.id, settings, SYSTEM);
  };
  const suspend = () => host.get(WorkspacesService).suspend(subscription.id, SYSTEM);

  it.each([
    ['a deactivation', 'a turn', 'event_queue', sendOne, deactivate],
    [
      'a deletion',
      'a claim',
      'pending_deliveries',
      failOne,
      () => subscription.endpoints.delete(subscription.id, subscription.endpoint.id, SYSTEM),
    ],
    ['a suspension', 'a turn', 'event_queue', sendOne, suspend],
  ])(
    'holds up %s for seconds only, in %s, and sends nothing when it goes on',
    async (_, __, table, work, act) => {
      await stopAtClaim(table, work);
      const before = receiver.received(subscription.path).length;
      await act();
      worker.kill('SIGCONT');
      await letTimePass(SEVERAL_POLLS_MS);
      expect(receiver.received(subscription.path)).toHaveLength(before);
    },
  );

  it.each([
    ['a deactivation', 'deliveries', 'pending_deliveries', failOne, deactivate],
    ['an edit of the address', 'an event', 'event_queue', sendOne, moveAddress],
    ['an edit of the address', 'deliveries', 'pending_deliveries', failOne, moveAddress],
    ['a suspension', 'deliveries', 'pending_deliveries', failOne, suspend],
  ])(
    'sends nothing after %s that has answered, though it had committed a claim of %s',
    async (_, __, table, work, act) => {
      await stopAtClaim(table, work, true);
      const before = receiver.received(subscription.path).length;
      await act();
      worker.kill('SIGCONT');
      await letTimePass(SEVERAL_POLLS_MS);
      expect(receiver.received(subscription.path)).toHaveLength(before);
    },
  );

  it('is no worse than a command that is stopped while it deactivates', async () => {
    const { endpoint } = subscription;
    const command = spawn(process.execPath, [CLI, 'webhook', 'deactivate', '--id', endpoint.id], {
      env: environmentOf(host.stores),
      stdio: 'ignore',
    });
    try {
      await stopAfter(
        { table: 'webhook_endpoints', when: 'NEW.active <> OLD.active' },
        () => Promise.resolve(),
        () => command.kill('SIGSTOP'),
      );
      await subscription.deactivate(endpoint);
      expect(await subscription.health(endpoint)).toMatchObject({ active: false });
    } finally {
      command.kill('SIGKILL');
    }
  }, 120_000);
});
