import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { Client } from 'pg';
import { SYSTEM } from '../../src/access/principal';
import { WorkspacesService } from '../../src/workspaces/workspaces.service';
import { hasLockWait } from '../support/lock-waits';
import { MessagingHost } from '../support/messaging-host';
import { Receiver } from '../support/receiver';
import { environmentOf, ServiceProcess } from '../support/service-process';
import { letTimePass, waitFor } from '../support/wait';
import { subscribe, Subscription } from '../support/webhook-workspace';

const CLI = join(__dirname, '../../dist/cli.js');
/** Key of the advisory lock for which a claim waits; an arbitrary number. */
const GATE = 4_711;
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

  /**
   * Stops a process after the update of a table that meets a condition, and before its next statement; or,
   * with `atCommit`, after the commit of the update.
   */
  async function stopAfter(
    update: { table: string; when: string; atCommit?: boolean },
    work: () => Promise<unknown>,
    stop: () => void,
  ): Promise<void> {
    const trigger = update.atCommit
      ? `CONSTRAINT TRIGGER gate AFTER UPDATE ON ${update.table} DEFERRABLE INITIALLY DEFERRED`
      : `TRIGGER gate BEFORE UPDATE ON ${update.table}`;
    await gate.query(`
      SELECT pg_advisory_lock(${GATE});
      CREATE FUNCTION wait_at_gate() RETURNS trigger LANGUAGE plpgsql SET lock_timeout = 0 AS $$
      BEGIN PERFORM pg_advisory_xact_lock_shared(${GATE}); RETURN NEW; END $$;
      CREATE ${trigger} FOR EACH ROW
      WHEN (${update.when}) EXECUTE FUNCTION wait_at_gate()`);
    await work();
    // A command takes seconds to start on a busy machine.
    await waitFor('the update to wait for the gate', () => hasLockWait(host), 60_000);
    stop();
    await gate.query(`SELECT pg_advisory_unlock(${GATE})`);
    await waitFor('the update to end', async () => !(await hasLockWait(host)));
  }

  const stopAtClaim = (table: string, work: () => Promise<unknown>, atCommit = false) =>
    stopAfter(
      { table, atCommit, when: 'NEW.lease_id IS DISTINCT FROM OLD.lease_id AND NEW.lease_id IS NOT NULL' },
      work,
      () => worker.kill('SIGSTOP'),
    );

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
