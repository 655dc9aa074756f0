import { Client } from 'pg';
import { maskUrls } from '../../src/audit/masked-urls';
import { newId } from '../../src/common/ids';
import { SYSTEM } from '../../src/access/principal';
import { WebhookRecoveriesService } from '../../src/webhooks/recoveries/webhook-recoveries.service';
import { CreatedWebhookEndpoint } from '../../src/webhooks/endpoints/webhook-endpoint.dto';
import { WebhookRecoverySummary } from '../../src/webhooks/recoveries/webhook-recovery.dto';
import { PlanTier } from '../../src/workspaces/plan-policy';
import { AdvisoryLock } from '../support/advisory-lock';
import { MessagingHost } from '../support/messaging-host';
import { expectRefusal } from '../support/errors';
import { Responder } from '../support/https-receiver';
import { waitForLockWait } from '../support/lock-waits';
import { Receiver } from '../support/receiver';
import { TestService } from '../support/service';
import { letTimePass, moment, waitFor } from '../support/wait';
import { deliveriesOf } from '../support/stored-deliveries';
import { WebhookWorkspace } from '../support/webhook-workspace';

const UNKNOWN = '01900000-0000-7000-8000-000000000000';
/** Number of deliveries that takes several batches, so that a test can act between them. */
const THOUSANDS = 2_800;

/** Key of the advisory lock for which a commit waits; an arbitrary number. */
const GATE = 4_711;

const failing: Responder = (response) => response.writeHead(500).end();
const working: Responder = (response) => response.end('ok');

let service: TestService;
let tenant: WebhookWorkspace;
let receiver: Receiver;

beforeEach(async () => {
  receiver = await Receiver.start();
});
afterEach(() => receiver.stop());

/** Returns the bodies of the messages that arrived, in any order. */
function bodies(): string[] {
  return receiver
    .received()
    .filter(({ envelope }) => envelope.event === 'message.created')
    .map(({ envelope }) => envelope.data.message.body as string)
    .sort();
}

describe('with a worker', () => {
  let endpoint: CreatedWebhookEndpoint;

  beforeAll(async () => {
    service = await TestService.create({ role: 'all' });
  });

  beforeEach(async () => {
    tenant = await WebhookWorkspace.create(service);
  });

  /** Sends one message for each way in which a delivery can end. */
  async function missSome(): Promise<{ start: Date; late: Date }> {
    const start = await moment();
    await tenant.message('delivered');
    await tenant.waitForStatus(endpoint, 'succeeded');

    receiver.https.respond = failing;
    await tenant.message('exhausted');
    await tenant.waitForStatus(endpoint, 'pending');
    await waitFor('a first attempt', () => receiver.received().length === 2);
    await waitFor(
      'its end',
      async () => (await tenant.list({ status: 'pending' }))[0]!.attempts.length === 1,
    );
    await tenant.makeLastAttemptDue(endpoint);
    await tenant.waitForStatus(endpoint, 'exhausted');

    await tenant.message('cancelled');
    await tenant.waitForStatus(endpoint, 'pending');
    await tenant.test(endpoint);
    await tenant.deactivate(endpoint);
    await tenant.message('while inactive');
    await service.make.updateConversation(tenant.workspace, tenant.conversation, {
      status: 'SNOOZED',
    });
    const late = await moment();
    await tenant.message('while inactive, later');
    await tenant.test(endpoint);
    await tenant.waitForRelay();
    return { start, late };
  }

  it('delivers what an endpoint never got, and nothing else, and counts it beforehand', async () => {
    endpoint = await tenant.addEndpoint(receiver.url());
    const { start, late } = await missSome();
    await expectRefusal(tenant.recover(endpoint, start), 'INVALID_BODY');
    await tenant.activate(endpoint);

    const missed = ['cancelled', 'exhausted', 'while inactive', 'while inactive, later'];
    const dryRun = await tenant.recover(endpoint, start, true);
    expect(dryRun).toEqual({
      id: null,
      endpointId: endpoint.id,
      kind: 'missed',
      filter: null,
      since: start,
      until: expect.any(Date),
      status: 'dry_run',
      total: missed.length,
      isTotalComplete: true,
      recovered: 0,
      isAllMade: false,
      pending: 0,
      succeeded: 0,
      exhausted: 0,
      cancelled: 0,
      startedBy: 'system',
      createdAt: expect.any(Date),
      finishedAt: null,
    });
    expect(await tenant.recover(endpoint, late, true)).toMatchObject({ total: 1 });

    receiver.https.respond = working;
    receiver.https.requests.length = 0;
    const started = await tenant.recover(endpoint, start);
    expect(started).toEqual({
      ...dryRun,
      id: expect.any(String),
      until: expect.any(Date),
      createdAt: expect.any(Date),
      status: 'running',
    });
    expect(await tenant.waitForRecovery(started)).toEqual({
      ...started,
      status: 'completed',
      recovered: missed.length,
      isAllMade: true,
      succeeded: missed.length,
      finishedAt: expect.any(Date),
    });
    await receiver.waitForCount(missed.length);
    expect(await tenant.waitForStatus(endpoint, 'succeeded', 1 + missed.length)).toHaveLength(5);
    expect(bodies()).toEqual(missed);
    expect(receiver.received()).toHaveLength(missed.length);
    expect(await tenant.recover(endpoint, start, true)).toMatchObject({ total: 0 });

    expect((await tenant.auditOf(endpoint))[0]).toMatchObject({
      action: 'webhook_endpoint.recovery_started',
      actorType: 'system',
      metadata: {
        recoveryId: started.id,
        since: start.toISOString(),
        total: missed.length,
        url: maskUrls(endpoint.url),
      },
    });
  });

  it('leaves alone what happened before', async () => {
    endpoint = await tenant.addEndpoint(receiver.url());
    const { late } = await missSome();
    await tenant.activate(endpoint);
    receiver.https.respond = working;
    receiver.https.requests.length = 0;
    const recovery = await tenant.waitForRecovery(await tenant.recover(endpoint, late));
    expect(recovery).toMatchObject({ status: 'completed', total: 1, recovered: 1 });
    await receiver.waitForCount(1);
    expect(bodies()).toEqual(['while inactive, later']);
    expect((await tenant.list({ status: 'cancelled' })).length).toBe(1);
  });

  it('gives each delivery its whole retry schedule again', async () => {
    receiver.https.respond = failing;
    endpoint = await tenant.addEndpoint(receiver.url());
    const start = await moment();
    const { id, attempts } = await tenant.exhaust(endpoint);
    expect(attempts).toHaveLength(2);
    await tenant.waitUntilMade(await tenant.recover(endpoint, start));
    const failedAgain = await tenant.waitForDelivery(
      endpoint,
      'fails again',
      (d) => d.attempts.length === 3 && d.nextAttemptAt !== null,
    );
    expect(failedAgain).toMatchObject({ id, status: 'pending', nextAttemptAt: expect.any(Date) });
    const state = 'SELECT round, attempt_count FROM pending_deliveries WHERE id = $1';
    expect(await service.query(state, [id])).toEqual([{ round: 2, attempt_count: 1 }]);
  });

  it.each<[PlanTier, string[]]>([
    ['PRO', []],
    ['ENTERPRISE', ['webhook_endpoint.activated', 'webhook_endpoint.deactivated']],
  ])('of a workspace on %s reaches the audit events that it is entitled to', async (planTier, actions) => {
    tenant = await WebhookWorkspace.create(service, { planTier });
    endpoint = await tenant.addEndpoint(receiver.url(), { events: ['*'] });
    const start = await moment();
    await tenant.deactivate(endpoint);
    await tenant.message('missed');
    await tenant.waitForRelay();
    await tenant.activate(endpoint);
    await tenant.waitForRelay();
    await tenant.waitForRecovery(await tenant.recover(endpoint, start));
    await waitFor('all that was missed', () => bodies().length === 1);
    await waitFor('nothing pending', async () => (await tenant.list({ status: 'pending' })).length === 0);
    const audited = receiver
      .received()
      .filter(({ envelope }) => envelope.event === 'audit.event')
      .map(({ envelope }) => envelope.data.action as string)
      .filter((action) => /activated/.test(action));
    expect(audited.sort()).toEqual(actions);
  });

  it('delivers what was relayed while the endpoint was inactive, and only once it is recovered', async () => {
    endpoint = await tenant.addEndpoint(receiver.url());
    const deactivatedAt = new Date();
    await tenant.deactivate(endpoint);
    await Promise.all([tenant.message('0'), tenant.message('1'), tenant.message('2')]);
    await tenant.waitForRelay();
    const another = await tenant.addEndpoint(receiver.url('/another'));
    await tenant.message('3');
    await tenant.waitForStatus(another, 'succeeded');
    await tenant.activate(endpoint);
    expect(bodies()).toEqual([]);

    expect(await tenant.recover(endpoint, deactivatedAt, true)).toMatchObject({ total: 4 });
    await tenant.recover(endpoint, deactivatedAt);
    await receiver.waitForCount(4);
    expect(bodies()).toEqual(['0', '1', '2', '3']);
  });

  it('waits for an event that the relay still has, because it is being sent to another endpoint', async () => {
    endpoint = await tenant.addEndpoint(receiver.url());
    const deactivatedAt = new Date();
    await tenant.deactivate(endpoint);
    let endAttempt!: () => void;
    receiver.https.respond = (response, request) => {
      const answer = () => working(response, request);
      if (request.path === '/another') endAttempt = answer;
      else answer();
    };
    await tenant.addEndpoint(receiver.url('/another'));
    await tenant.message('slow elsewhere');
    await receiver.waitForCount(1, '/another');

    await tenant.activate(endpoint);
    const recovery = await tenant.recover(endpoint, deactivatedAt);
    expect(recovery).toMatchObject({ total: 1 });
    // A batch begins every half second.
    await letTimePass(1_500);
    expect(await tenant.recovery(recovery)).toMatchObject({ status: 'running', recovered: 0 });
    endAttempt();
    expect(await tenant.waitForRecovery(recovery)).toMatchObject({ status: 'completed', recovered: 1 });
    await receiver.waitForCount(1);
    expect(bodies()).toEqual(['slow elsewhere']);
  });

  it('neither counts nor sends what happened before the endpoint was made', async () => {
    const start = await moment();
    await tenant.message('before');
    await tenant.waitForRelay();
    await moment();
    endpoint = await tenant.addEndpoint(receiver.url());
    const since = endpoint.createdAt;
    expect(await tenant.recover(endpoint, start, true)).toMatchObject({ total: 0, since });
    const recovery = await tenant.waitForRecovery(await tenant.recover(endpoint, start));
    expect(recovery).toMatchObject({ status: 'completed', recovered: 0, since });
    expect((await tenant.auditOf(endpoint))[0]!.metadata).toMatchObject({ since: since.toISOString() });

    await tenant.deactivate(endpoint);
    await tenant.message('paused');
    await tenant.waitForRelay();
    await tenant.activate(endpoint);
    expect(await tenant.recover(endpoint, start, true)).toMatchObject({ total: 1, since });
    await tenant.waitForRecovery(await tenant.recover(endpoint, start));
    expect(bodies()).toEqual(['paused']);
  });

  it('reaches all of the pause after the service has deactivated the endpoint', async () => {
    endpoint = await tenant.addEndpoint(receiver.url());
    receiver.https.respond = (response) => response.writeHead(410).end();
    await tenant.exhaust(endpoint);
    await waitFor('the deactivation', async () => {
      const { deactivation } = await tenant.endpoints.get(tenant.id, endpoint.id, SYSTEM);
      return deactivation?.reason === 'gone';
    });
    await tenant.message('paused');
    await tenant.waitForRelay();
    receiver.https.respond = working;
    receiver.https.requests.length = 0;
    await tenant.activate(endpoint);
    const started = await tenant.recover(endpoint, new Date(0));
    expect(started).toMatchObject({ total: 2, since: endpoint.createdAt });
    expect(await tenant.waitForRecovery(started)).toMatchObject({ status: 'completed', succeeded: 2 });
    expect(bodies()).toHaveLength(2);
    expect(bodies()).toContain('paused');
  });

  describe('runs until what it made has finished', () => {
    /** Lets events with these bodies be missed, and recovers them. Those with `fails` fail. */
    async function recoverSome(...missed: string[]): Promise<WebhookRecoverySummary> {
      endpoint = await tenant.addEndpoint(receiver.url());
      await tenant.deactivate(endpoint);
      for (const body of missed) await tenant.message(body);
      await tenant.waitForRelay();
      await tenant.activate(endpoint);
      receiver.https.respond = (response, request) =>
        (request.body.includes('fails') ? failing : working)(response, request);
      return tenant.waitUntilMade(await tenant.recover(endpoint, endpoint.createdAt));
    }

    const waitForCounts = (recovery: WebhookRecoverySummary, counts: Partial<WebhookRecoverySummary>) =>
      waitFor(`counts ${JSON.stringify(counts)}`, async () => {
        const now = await tenant.recovery(recovery);
        return (
          Object.entries(counts).every(([name, value]) => now[name as keyof typeof now] === value) && now
        );
      });

    /** Waits until two deliveries have failed once. */
    const waitForFirstAttempts = () =>
      waitFor('first attempts', async () => {
        const rows = await tenant.list({ status: 'pending' });
        return rows.filter(({ attempts }) => attempts.length === 1).length === 2 && rows;
      });

    it('with how many succeeded and were given up', async () => {
      const recovery = await recoverSome('one', 'fails', 'two', 'fails, too');
      const sending = await waitForCounts(recovery, { succeeded: 2, pending: 2 });
      expect(sending).toMatchObject({ status: 'running', isAllMade: true, recovered: 4, finishedAt: null });
      // There is nothing left to cancel.
      const recoveries = service.app.get(WebhookRecoveriesService, { strict: false });
      expect(await recoveries.cancel(tenant.id, recovery.id!, SYSTEM)).toEqual(sending);

      await tenant.makeLastAttemptDue(endpoint);
      expect(await tenant.waitForRecovery(recovery)).toEqual({
        ...sending,
        status: 'completed',
        pending: 0,
        exhausted: 2,
        finishedAt: expect.any(Date),
      });
    });

    it('while another one takes only what it has not made', async () => {
      const recovery = await recoverSome('fails');
      await waitForCounts(recovery, { pending: 1 });
      const second = await tenant.recover(endpoint, endpoint.createdAt);
      expect(second).toMatchObject({ status: 'running', total: 0 });
      expect(await tenant.waitForRecovery(second)).toMatchObject({ status: 'completed', recovered: 0 });
      expect(await tenant.recovery(recovery)).toMatchObject({ status: 'running', pending: 1 });

      await tenant.makeLastAttemptDue(endpoint);
      expect(await tenant.waitForRecovery(recovery)).toMatchObject({ exhausted: 1 });
      receiver.https.respond = working;
      const third = await tenant.waitForRecovery(await tenant.recover(endpoint, endpoint.createdAt));
      expect(third).toMatchObject({ recovered: 1, succeeded: 1 });
      expect(await tenant.recovery(recovery)).toMatchObject({ recovered: 1, exhausted: 1, succeeded: 0 });
    });

    it('even if a person brings one forward, or sends it again meanwhile', async () => {
      const recovery = await recoverSome('fails', 'fails, too');
      const [one, other] = await waitForFirstAttempts();
      receiver.https.respond = working;
      await tenant.redeliver(one!);
      await waitForCounts(recovery, { succeeded: 1, pending: 1 });
      await tenant.retryNow(other!);
      expect(await tenant.waitForRecovery(recovery)).toMatchObject({ status: 'completed', succeeded: 2 });
    });

    it.each<[string, () => Promise<unknown>]>([
      ['its endpoint is deactivated', () => tenant.deactivate(endpoint)],
      ['its endpoint is deleted', () => tenant.endpoints.delete(tenant.id, endpoint.id, SYSTEM)],
      ['the type is taken out', () => tenant.edit(endpoint, { events: ['contact.created'] })],
    ])('as cancelled ones when %s', async (_, act) => {
      const recovery = await recoverSome('one', 'fails', 'fails, too');
      await waitForCounts(recovery, { succeeded: 1, pending: 2 });
      await waitForFirstAttempts();
      await act();
      const counts = {
        status: 'completed',
        recovered: 3,
        pending: 0,
        succeeded: 1,
        exhausted: 0,
        cancelled: 2,
      };
      const read = () =>
        service.query<{ isSettled: boolean }>(
          'SELECT is_settled AS "isSettled" FROM webhook_recoveries WHERE id = $1',
          [recovery.id],
        );
      await waitFor('the end', async () => (await read())[0]!.isSettled);
      expect(await tenant.recovery(recovery)).toMatchObject(counts);
    });
  });

  it('need not reach an event whose request waited while the endpoint was activated', async () => {
    endpoint = await tenant.addEndpoint(receiver.url());
    await tenant.deactivate(endpoint);
    const blocker = new Client({ connectionString: service.stores.databaseUrl });
    await blocker.connect();
    try {
      await blocker.query(
        `BEGIN; SELECT FROM conversations WHERE tenant_id = '${tenant.workspace.id}' AND id = '${tenant.conversation.id}' FOR UPDATE`,
      );
      const waiting = tenant.message('waited');
      await waitForLockWait(service, 'the request');
      await tenant.activate(endpoint);
      await blocker.query('COMMIT');
      await waiting;
      await receiver.waitForCount(1);
      expect(bodies()).toEqual(['waited']);
    } finally {
      await blocker.end();
    }
  });

  it('waits for an event from before the activation that commits after it', async () => {
    const start = await moment();
    endpoint = await tenant.addEndpoint(receiver.url());
    await tenant.deactivate(endpoint);
    const gate = await AdvisoryLock.take(service.stores, GATE);
    await service.query(`
      CREATE FUNCTION wait_at_gate() RETURNS trigger LANGUAGE plpgsql SET lock_timeout = 0 AS $$
      BEGIN
        -- Audited changes have events, too: the first one alone waits.
        IF pg_try_advisory_xact_lock(${GATE} + 1) THEN PERFORM pg_advisory_xact_lock_shared(${GATE}); END IF;
        RETURN NULL;
      END $$`);
    await service.query(`
      CREATE CONSTRAINT TRIGGER gate AFTER INSERT ON event_queue DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW WHEN (NEW.tenant_id = '${tenant.id}') EXECUTE FUNCTION wait_at_gate()`);
    try {
      const late = tenant.message('late');
      await waitForLockWait(service, 'the commit');
      await tenant.activate(endpoint);
      const recovery = await tenant.recover(endpoint, start);
      // A step begins every half second.
      await letTimePass(1_500);
      await gate.release();
      await late;
      expect(await tenant.waitForRecovery(recovery)).toMatchObject({ status: 'completed', recovered: 1 });
      await receiver.waitForCount(1);
      expect(bodies()).toEqual(['late']);
    } finally {
      await gate.release();
      await service.query('DROP FUNCTION wait_at_gate CASCADE');
    }
  });

  it('does not reach another endpoint, nor another workspace', async () => {
    const other = await tenant.addEndpoint(receiver.url('/other'));
    const stranger = await WebhookWorkspace.create(service);
    endpoint = await tenant.addEndpoint(receiver.url());
    const start = await moment();
    await tenant.deactivate(endpoint);
    await tenant.deactivate(other);
    await Promise.all([tenant.message('ours'), stranger.message('theirs')]);
    await Promise.all([tenant.waitForRelay(), stranger.waitForRelay()]);
    await Promise.all([tenant.activate(endpoint), tenant.activate(other)]);
    const recovery = await tenant.waitForRecovery(await tenant.recover(endpoint, start));
    expect(recovery).toMatchObject({ total: 1, recovered: 1 });
    await receiver.waitForCount(1);
    expect(bodies()).toEqual(['ours']);
    expect(receiver.received('/other')).toEqual([]);

    await expectRefusal(stranger.recover(endpoint, start), 'NOT_FOUND');
    await expectRefusal(stranger.recovery(recovery), 'NOT_FOUND');
    await expectRefusal(tenant.recover({ id: UNKNOWN }, start), 'NOT_FOUND');
    await expectRefusal(tenant.recovery({ id: UNKNOWN }), 'NOT_FOUND');
    await expectRefusal(tenant.recover(endpoint, new Date('soon')), 'INVALID_BODY');
  });
});

describe('in the background', () => {
  let endpoint: CreatedWebhookEndpoint;
  let start: Date;
  let host: MessagingHost;
  const workers: TestService[] = [];

  beforeEach(async () => {
    service = await TestService.create({ role: 'api' });
    host = await MessagingHost.create({ beside: service });
    tenant = await WebhookWorkspace.create(host);
    start = new Date();
    endpoint = await tenant.addEndpoint(receiver.url());
    await tenant.miss(THOUSANDS);
  });
  afterEach(async () => {
    await stopWorkers();
    await host.close();
    await service.close();
  });

  async function startWorker(): Promise<TestService> {
    const worker = await TestService.create({ role: 'worker', beside: service });
    workers.push(worker);
    return worker;
  }

  async function stopWorkers(): Promise<void> {
    await Promise.all(workers.splice(0).map((worker) => worker.close()));
  }

  const underWay = (recovery: WebhookRecoverySummary) =>
    waitFor('a part of it', async () => {
      const now = await tenant.recovery(recovery);
      return now.recovered > 0 && now;
    });

  /** Starts a worker, and stops it between two batches of a recovery. */
  async function stopWorkersMidway(recovery: WebhookRecoverySummary): Promise<void> {
    const lock = new Client({ connectionString: service.stores.databaseUrl });
    await lock.connect();
    try {
      await lock.query('BEGIN');
      await startWorker();
      await underWay(recovery);
      await lock.query('SELECT FROM webhook_recoveries WHERE tenant_id = $1 FOR UPDATE', [
        tenant.workspace.id,
      ]);
      await stopWorkers();
    } finally {
      await lock.end();
    }
  }

  async function countByStatus(): Promise<Record<string, number>> {
    const counts: Record<string, number> = {};
    for (const { status } of await deliveriesOf(service, endpoint))
      counts[status] = (counts[status] ?? 0) + 1;
    return counts;
  }

  it('waits for a worker, and takes no second one meanwhile', async () => {
    const recovery = await tenant.recover(endpoint, start);
    expect(recovery).toMatchObject({ status: 'running', total: THOUSANDS, recovered: 0 });
    await expectRefusal(tenant.recover(endpoint, start), 'INVALID_BODY');
    expect(await tenant.recover(endpoint, start, true)).toMatchObject({
      status: 'dry_run',
      total: THOUSANDS,
    });
    expect(await tenant.recovery(recovery)).toEqual(recovery);

    await startWorker();
    expect(await tenant.waitForRecovery(recovery)).toMatchObject({
      status: 'completed',
      recovered: THOUSANDS,
    });
    expect(await tenant.recover(endpoint, start)).toMatchObject({ status: 'running', total: 0 });
  });

  it('keeps the latest 200 of an endpoint', async () => {
    const older = Array.from({ length: 220 }, newId);
    const running = await tenant.recover(endpoint, start);
    await host.get(WebhookRecoveriesService).cancel(tenant.id, running.id!, SYSTEM);
    await service.query(
      `INSERT INTO webhook_recoveries SELECT (jsonb_populate_record(r, jsonb_build_object('id', older.id, 'is_settled', true))).*
       FROM webhook_recoveries r, unnest($2::uuid[]) AS older (id) WHERE r.id = $1`,
      [running.id, older],
    );
    await tenant.recover(endpoint, start);
    expect(await service.query('SELECT FROM webhook_recoveries')).toHaveLength(200);
  });

  it('takes turns, so that a big one does not hold up another workspace', async () => {
    const other = await WebhookWorkspace.create(host);
    const otherEndpoint = await other.addEndpoint(receiver.url('/other'));
    await other.miss(1);
    // The big one takes three times as many steps as the small one.
    await tenant.miss(THOUSANDS);
    const big = await tenant.recover(endpoint, start);
    const small = await other.recover(otherEndpoint, start);

    await startWorker();
    const ends = await Promise.all([tenant.waitForRecovery(big), other.waitForRecovery(small)]);
    expect(ends).toMatchObject([
      { status: 'completed', recovered: 2 * THOUSANDS },
      { status: 'completed', recovered: 1 },
    ]);
    const [bigEnd, smallEnd] = ends.map(({ finishedAt }) => finishedAt!);
    expect(smallEnd!.getTime()).toBeLessThan(bigEnd!.getTime());
  });

  it('goes on with another worker where a stopped one has left it', async () => {
    // There are so many that the recovery waits for the deliveries of the first ones.
    await tenant.miss(THOUSANDS);
    const all = 2 * THOUSANDS;
    const recovery = await tenant.recover(endpoint, start);
    await stopWorkersMidway(recovery);
    const left = await tenant.recovery(recovery);
    expect(left.status).toBe('running');
    expect(left.recovered).toBeGreaterThan(0);
    expect(left.recovered).toBeLessThan(all);

    await startWorker();
    expect(await tenant.waitForRecovery(recovery)).toMatchObject({
      status: 'completed',
      total: all,
      recovered: all,
    });
    expect(await tenant.recovery(recovery)).toMatchObject({ succeeded: all, pending: 0 });
    expect(await countByStatus()).toEqual({ SUCCEEDED: all });
  });

  it('ends when it is cancelled, and another can start', async () => {
    await tenant.miss(THOUSANDS);
    const recovery = await tenant.recover(endpoint, start);
    await stopWorkersMidway(recovery);
    const recoveries = host.get(WebhookRecoveriesService);
    const cancelled = await recoveries.cancel(tenant.id, recovery.id!, SYSTEM);
    expect(cancelled).toMatchObject({ status: 'cancelled', finishedAt: expect.any(Date) });
    expect(cancelled.recovered).toBeLessThan(2 * THOUSANDS);
    expect(await recoveries.cancel(tenant.id, recovery.id!, SYSTEM)).toEqual(cancelled);
    await startWorker();
    await waitFor('a delivery of what was pending', async () => (await countByStatus())['SUCCEEDED']);
    const { status, recovered, finishedAt } = cancelled;
    const left = await waitFor('the end of what was pending', async () => {
      const now = await tenant.recovery(recovery);
      return now.pending === 0 && now;
    });
    expect(left).toMatchObject({ status, recovered, finishedAt, succeeded: recovered, cancelled: 0 });

    const agent = await host.make.agent(tenant.workspace);
    const actor = { type: 'agent' as const, id: agent.id };
    const second = await recoveries.recoverMissed(tenant.id, endpoint.id, { since: start }, actor);
    expect(second).toMatchObject({ total: 2 * THOUSANDS - cancelled.recovered, startedBy: agent.id });
    const listed = await recoveries.list(tenant.id, endpoint.id, SYSTEM);
    expect(listed.map(({ id }) => id)).toEqual([second.id, recovery.id]);
    expect(listed[1]).toEqual(left);
    expect(await recoveries.list(tenant.id, endpoint.id, SYSTEM, 1)).toHaveLength(1);
    const stranger = await WebhookWorkspace.create(host);
    await expectRefusal(recoveries.list(stranger.id, endpoint.id, SYSTEM), 'NOT_FOUND');
    await expectRefusal(recoveries.cancel(stranger.id, second.id!, SYSTEM), 'NOT_FOUND');
    await expectRefusal(recoveries.cancel(tenant.id, 'none', SYSTEM), 'NOT_FOUND');
  });

  it('is not even counted for an agent who may not start it', async () => {
    const agent = await host.make.agent(tenant.workspace, { role: 'AGENT' });
    const actor = { type: 'agent' as const, id: agent.id };
    const recoveries = host.get(WebhookRecoveriesService);
    const since = { since: start, dryRun: true };
    await expectRefusal(recoveries.recoverMissed(tenant.id, endpoint.id, since, actor), 'FORBIDDEN');
    const filter = { endpointId: endpoint.id, status: 'exhausted' as const };
    const matching = recoveries.redeliverMatching(tenant.id, filter, { dryRun: true }, actor);
    await expectRefusal(matching, 'FORBIDDEN');
  });

  it('counts as cancelled what another one makes again before it is cancelled', async () => {
    receiver.https.respond = failing;
    await service.query('DELETE FROM events WHERE tenant_id = $1', [tenant.id]);
    await tenant.miss(2);
    const first = await tenant.recover(endpoint, start);
    await startWorker();
    await waitFor('attempts of each', async () => {
      const rows = await tenant.list({ status: 'pending' });
      return rows.filter(({ attempts }) => attempts.length > 0).length === 2;
    });
    await stopWorkers();
    await tenant.deactivate(endpoint);
    await tenant.activate(endpoint);
    receiver.https.respond = working;
    const lock = new Client({ connectionString: service.stores.databaseUrl });
    await lock.connect();
    try {
      // No worker cancels the deliveries of the former activation.
      await lock.query('BEGIN');
      await lock.query('SELECT FROM pending_cancellations WHERE tenant_id = $1 FOR UPDATE', [tenant.id]);
      const second = await tenant.recover(endpoint, start);
      await startWorker();
      expect(await tenant.waitForRecovery(second)).toMatchObject({ recovered: 2, succeeded: 2 });
    } finally {
      await lock.end();
    }
    expect(await tenant.waitForRecovery(first)).toMatchObject({
      status: 'completed',
      recovered: 2,
      pending: 0,
      cancelled: 2,
      succeeded: 0,
    });
  });

  it('ends when its endpoint is deactivated', async () => {
    // There are so many that the recovery waits for the deliveries of the first ones.
    await tenant.miss(THOUSANDS);
    const all = 2 * THOUSANDS;
    const recovery = await tenant.recover(endpoint, start);
    await startWorker();
    await underWay(recovery);
    await tenant.deactivate(endpoint);
    const ended = await tenant.waitForRecovery(recovery);
    expect(ended).toMatchObject({ status: 'cancelled', finishedAt: expect.any(Date) });
    expect(ended.recovered).toBeLessThan(all);
    const { CANCELLED = 0, SUCCEEDED = 0, ...others } = await countByStatus();
    expect({ recovered: CANCELLED + SUCCEEDED, others }).toEqual({ recovered: ended.recovered, others: {} });
    await waitFor('what became of each', async () => (await tenant.recovery(recovery)).pending === 0);
    const counts = await countByStatus();
    const counted = {
      cancelled: counts['CANCELLED'] ?? 0,
      succeeded: counts['SUCCEEDED'] ?? 0,
      exhausted: 0,
    };
    expect(await tenant.recovery(recovery)).toMatchObject({ status: 'cancelled', ...counted });

    await tenant.activate(endpoint);
    await waitFor('the attempts in flight, and the count of what is left', async () => {
      const { total } = await tenant.recover(endpoint, start, true);
      return total === all - ((await countByStatus())['SUCCEEDED'] ?? 0);
    });
  });
});
