import { SYSTEM } from '../../src/access/principal';
import { AlertsService } from '../../src/alerts/alerts.service';
import { AutomaticRecoveriesService } from '../../src/webhooks/recoveries/automatic-recoveries.service';
import { AutomaticRecoverySummary } from '../../src/webhooks/recoveries/automatic-recovery.dto';
import { CreatedWebhookEndpoint } from '../../src/webhooks/endpoints/webhook-endpoint.dto';
import { WebhookRecoveriesService } from '../../src/webhooks/recoveries/webhook-recoveries.service';
import { Responder } from '../support/https-receiver';
import { Receiver } from '../support/receiver';
import { TestService } from '../support/service';
import { waitFor } from '../support/wait';
import { WebhookWorkspace } from '../support/webhook-workspace';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const failing: Responder = (response) => response.writeHead(500).end();
const gone: Responder = (response) => response.writeHead(410).end();
/** Answers messages with the word "well", and fails all others. */
const failingOthers: Responder = (response, request) =>
  (request.body.toString().includes('well') ? working : failing)(response, request);
const working: Responder = (response) => response.end('ok');

let service: TestService;
let tenant: WebhookWorkspace;
let receiver: Receiver;
let endpoint: CreatedWebhookEndpoint;

beforeAll(async () => {
  service = await TestService.create({ role: 'all' });
});

beforeEach(async () => {
  receiver = await Receiver.start();
  tenant = await WebhookWorkspace.create(service);
  endpoint = await tenant.addEndpoint(receiver.url(), { automaticRecovery: true });
});
afterEach(() => receiver.stop());

const automatic = () => service.app.get(AutomaticRecoveriesService, { strict: false });
const read = () => automatic().get(tenant.id, endpoint.id, SYSTEM);

function waitForState(state: AutomaticRecoverySummary['state']): Promise<AutomaticRecoverySummary> {
  return waitFor(`the state ${state}`, async () => {
    const seen = await read();
    return seen?.state === state && seen;
  });
}

/** Waits until nothing is missing any more. */
const waitForHealth = () => waitFor('a healthy endpoint', async () => (await read()) === null);

/** Moves the clock on for everything that an automatic recovery waits for. */
async function moveClock(ms: number): Promise<void> {
  const by = `- $2 * interval '1 millisecond'`;
  // Citus takes no sum of a column in an update.
  const [moved] = await service.query<Record<string, Date | null>>(
    `SELECT r.due_at ${by} AS "dueAt", r.probing_since ${by} AS "probingSince", w.failing_since ${by} AS "failingSince",
       w.last_success_at ${by} AS "lastSuccessAt"
     FROM webhook_endpoints w LEFT JOIN automatic_recoveries r ON r.tenant_id = w.tenant_id AND r.endpoint_id = w.id
     WHERE w.tenant_id = $3 AND w.id = $1`,
    [endpoint.id, ms, tenant.id],
  );
  const { dueAt, probingSince, failingSince, lastSuccessAt } = moved!;
  await service.query(
    'UPDATE automatic_recoveries SET due_at = $2, probing_since = $3 WHERE endpoint_id = $1',
    [endpoint.id, dueAt, probingSince],
  );
  await service.query('UPDATE webhook_endpoints SET failing_since = $2, last_success_at = $3 WHERE id = $1', [
    endpoint.id,
    failingSince,
    lastSuccessAt,
  ]);
}

/** Stores a message in each of several conversations. */
async function messageEach(...bodies: string[]): Promise<void> {
  for (const body of bodies) {
    const conversation = await service.make.conversation(tenant.workspace);
    await service.make.received(tenant.workspace, conversation, body);
  }
}

/** Lets messages of one conversation be given up by a receiver that fails. */
async function giveUp(...bodies: string[]): Promise<void> {
  await giveUpAll(bodies, async () => {
    for (const body of bodies) await tenant.message(body);
  });
}

/** Waits until the first attempts of as many pending deliveries are recorded. */
async function waitForAttempts(count: number): Promise<void> {
  await tenant.waitForStatus(endpoint, 'pending', count);
  await waitFor('the first attempts', async () => {
    const listed = await tenant.list({ endpointId: endpoint.id, status: 'pending' });
    return listed.length === count && listed.every(({ attempts }) => attempts.length > 0);
  });
}

async function giveUpAll(bodies: string[], store: () => Promise<void>): Promise<void> {
  receiver.https.respond = failing;
  const before = (await tenant.list({ endpointId: endpoint.id, status: 'exhausted' })).length;
  await store();
  await waitForAttempts(bodies.length);
  await tenant.makeLastAttemptDue(endpoint);
  await tenant.waitForStatus(endpoint, 'exhausted', before + bodies.length);
}

/** Lets the last attempt of a message fail, upon which the service deactivates the endpoint. */
async function letServiceSwitchOff(body: string): Promise<void> {
  await tenant.message(body);
  await waitForAttempts(1);
  await tenant.makeLastAttemptDue(endpoint);
  await waitFor(
    'an inactive endpoint',
    async () => !(await tenant.endpoints.get(tenant.id, endpoint.id, SYSTEM)).active,
  );
}

/** Moves the clock to the next probe, and waits until the receiver has got it. */
async function letProbeFail(): Promise<AutomaticRecoverySummary> {
  const { nextProbeAt, probes } = await waitForState('probing');
  await moveClock(nextProbeAt!.getTime() - Date.now() + 1);
  return waitFor('a failed probe', async () => {
    const seen = await read();
    return seen && (seen.state !== 'probing' || (seen.probes > probes && seen.nextProbeAt !== null)) && seen;
  });
}

async function succeedOnce(body: string): Promise<void> {
  receiver.https.respond = working;
  await tenant.message(body);
  await waitFor('a success', () => arrived().includes(body));
}

/** Returns the bodies of the messages, one for each request that arrived. */
function arrived(path?: string): string[] {
  return receiver.received(path).map(({ envelope }) => envelope.data.message.body as string);
}

/** Returns how often each message arrived after a moment of the test. */
function countsAfter(requests: number, path?: string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const body of arrived(path).slice(requests)) counts[body] = (counts[body] ?? 0) + 1;
  return counts;
}

/** Returns the kinds of the endpoint's open alerts about recoveries. */
async function openAlerts(): Promise<string[]> {
  const alerts = service.app.get(AlertsService, { strict: false });
  const { data } = await alerts.list(tenant.id, {}, SYSTEM);
  return data
    .filter(
      ({ kind, subjectId, resolvedAt }) =>
        kind.startsWith('RECOVERY') && subjectId === endpoint.id && !resolvedAt,
    )
    .map(({ kind }) => kind);
}

const actionsOf = async () => (await tenant.auditOf(endpoint)).map(({ action }) => action);

async function rounds() {
  const recoveries = service.app.get(WebhookRecoveriesService, { strict: false });
  return recoveries.list(tenant.id, endpoint.id, SYSTEM);
}

it('delivers what a receiver missed in two minutes as soon as it answers a delivery', async () => {
  await giveUp('first', 'second', 'third');
  const seen = await waitForState('probing');
  expect(seen).toMatchObject({ probes: 0, rounds: 0, stopReason: null });
  expect(seen.nextProbeAt!.getTime() - Date.now()).toBeLessThanOrEqual(5 * MINUTE_MS);
  await moveClock(2 * MINUTE_MS);

  const before = receiver.received().length;
  await succeedOnce('live');
  await waitForHealth();
  expect(countsAfter(before)).toEqual({ live: 1, first: 1, second: 1, third: 1 });
  // Messages of one conversation arrive in their order.
  expect(arrived().slice(before + 1)).toEqual(['first', 'second', 'third']);

  expect(await rounds()).toEqual([
    expect.objectContaining({
      status: 'completed',
      recovered: 3,
      succeeded: 3,
      total: 3,
      startedBy: 'system',
    }),
  ]);
  expect(await openAlerts()).toEqual(['RECOVERY_FINISHED']);
  const entries = (await tenant.auditOf(endpoint)).filter(({ action }) => action.includes('recovery'));
  expect(entries.map(({ action, actorType }) => [action, actorType])).toEqual([
    ['webhook_endpoint.recovery_finished', 'system'],
    ['webhook_endpoint.recovery_started', 'system'],
  ]);
});

it('probes a receiver that is away for two hours with the oldest missed event', async () => {
  await giveUp('first', 'second');
  const before = receiver.received().length;
  for (const waitMinutes of [15, 30, 30]) {
    const { nextProbeAt } = await letProbeFail();
    expect(nextProbeAt!.getTime() - Date.now()).toBeLessThanOrEqual(waitMinutes * MINUTE_MS);
    expect(nextProbeAt!.getTime() - Date.now()).toBeGreaterThan((waitMinutes - 1) * MINUTE_MS);
  }
  expect(countsAfter(before)).toEqual({ first: 3 });

  receiver.https.respond = working;
  const { nextProbeAt } = (await read())!;
  await moveClock(nextProbeAt!.getTime() - Date.now() + 1);
  await waitForHealth();
  expect(countsAfter(before)).toEqual({ first: 4, second: 1 });
  // A probe is no recovery of its own.
  expect(await rounds()).toHaveLength(1);
});

it('gives a receiver that is away for two days everything, and leaves one alone that is away for five', async () => {
  await giveUp('first', 'second');
  await letProbeFail();
  await moveClock(2 * DAY_MS);
  await letProbeFail();
  const before = receiver.received().length;
  await succeedOnce('live');
  await waitForHealth();
  expect(countsAfter(before)).toEqual({ live: 1, first: 1, second: 1 });

  await giveUp('third');
  await waitForState('probing');
  await moveClock(5 * DAY_MS + MINUTE_MS);
  expect(await waitForState('stopped')).toMatchObject({ stopReason: 'days', nextProbeAt: null });
  await succeedOnce('live again');
  expect(await read()).toMatchObject({ state: 'stopped' });
  expect(await actionsOf()).toContain('webhook_endpoint.recovery_stopped');
});

it('sends no event a fourth time to a receiver that fails again in each round', async () => {
  await giveUp('first', 'second');
  const before = receiver.received().length;
  for (let round = 1; round <= 3; round++) {
    await waitForState('probing');
    // Live messages succeed, and what was missed fails again.
    receiver.https.respond = failingOthers;
    await tenant.message(`well ${round}`);
    await waitFor(
      'the end of a round',
      async () => (await rounds())[0]?.status === 'completed' && (await rounds()).length === round,
    );
    await waitFor('the next state', async () => {
      const seen = await read();
      return seen!.rounds === round && seen!.state !== 'recovering';
    });
  }
  expect(await waitForState('stopped')).toMatchObject({ rounds: 3, stopReason: 'rounds' });
  await succeedOnce('well 4');
  expect(countsAfter(before)).toEqual({
    first: 3,
    second: 3,
    'well 1': 1,
    'well 2': 1,
    'well 3': 1,
    'well 4': 1,
  });
  expect(await read()).toMatchObject({ state: 'stopped' });

  expect(await openAlerts()).toEqual(['RECOVERY_STOPPED']);

  // After its owner has acted, events from then on are recovered, and the earlier ones stay the owner's.
  await automatic().cancel(tenant.id, endpoint.id, SYSTEM);
  expect(await read()).toBeNull();
  expect(await openAlerts()).toEqual([]);
  await giveUp('third');
  await waitForState('probing');
  const then = receiver.received().length;
  await succeedOnce('live 5');
  await waitForHealth();
  expect(countsAfter(then)).toEqual({ 'live 5': 1, third: 1 });
});

it('probes again after ten failures in a row, and takes back what it did not send', async () => {
  // A limit, so that the round has not sent everything when the tenth failure is counted.
  endpoint = await tenant.addEndpoint(receiver.url('/limited'), { automaticRecovery: true, rateLimit: 10 });
  await tenant.deactivate({ id: (await tenant.endpoints.list(tenant.id, SYSTEM)).at(-1)!.id });
  const bodies = Array.from({ length: 30 }, (_, n) => `message ${n}`);
  await giveUpAll(bodies, () => messageEach(...bodies));
  await waitForState('probing');
  const before = receiver.received('/limited').length;
  receiver.https.respond = failingOthers;
  await tenant.message('well');
  await waitFor('the end of the round', async () => (await rounds())[0]?.status === 'cancelled');
  expect(await waitForState('probing')).toMatchObject({ rounds: 1, probes: 0 });
  const sent = Object.entries(countsAfter(before, '/limited')).filter(([body]) => body !== 'well');
  expect(sent.length).toBeGreaterThanOrEqual(10);
  expect(sent.every(([, count]) => count === 1)).toBe(true);
  expect(sent.length).toBeLessThan(bodies.length);
  await waitFor(
    'the deliveries that were taken back',
    async () => (await tenant.list({ endpointId: endpoint.id, status: 'cancelled' })).length,
  );

  receiver.https.respond = working;
  const then = receiver.received('/limited').length;
  await tenant.message('well again');
  await waitForHealth();
  expect(countsAfter(then, '/limited')).toEqual({
    ...Object.fromEntries(bodies.map((body) => [body, 1])),
    'well again': 1,
  });
});

it('recovers a receiver that flaps: nothing is lost, and what it got is not sent again', async () => {
  await giveUp('first', 'second', 'third', 'fourth');
  await waitForState('probing');
  let answered = 0;
  // Each second request fails.
  receiver.https.respond = (response, request) =>
    (answered++ % 2 === 0 ? working : failing)(response, request);
  await tenant.message('live');
  await waitFor('the first round', async () => {
    const seen = await read();
    return seen === null || (seen.rounds === 1 && seen.state === 'probing');
  });
  receiver.https.respond = working;
  if (await read()) await succeedOnce('live again');
  await waitForHealth();
  expect(await tenant.list({ endpointId: endpoint.id, status: 'exhausted' })).toEqual([]);
});

it.each([
  ['switched off', () => tenant.deactivate(endpoint)],
  ['edited', () => tenant.edit(endpoint, { name: 'CRM' })],
  ['given a new secret', () => tenant.endpoints.rollSecret(tenant.id, endpoint.id, {}, SYSTEM)],
  ['cancelled', () => automatic().cancel(tenant.id, endpoint.id, SYSTEM)],
])('leaves an endpoint alone at once that was %s', async (_, act) => {
  await giveUp('first');
  await waitForState('probing');
  await act();
  expect(await read()).toBeNull();
  if ((await tenant.endpoints.get(tenant.id, endpoint.id, SYSTEM)).active) await succeedOnce('live');
  expect(await read()).toBeNull();
  expect(arrived().filter((body) => body === 'first')).toHaveLength(2);
});

it('leaves a deleted endpoint alone, and one that answered 410', async () => {
  await giveUp('first');
  await waitForState('probing');
  receiver.https.respond = gone;
  await letServiceSwitchOff('second');
  expect(await read()).toBeNull();
  await tenant.endpoints.delete(tenant.id, endpoint.id, SYSTEM);
});

it('waits for its owner after the service has switched it off, and then delivers what it missed', async () => {
  await giveUp('first');
  await waitForState('probing');
  await moveClock(5 * DAY_MS - HOUR_MS);
  await service.query(
    `UPDATE webhook_endpoints SET failing_since = now() - interval '6 days' WHERE id = $1`,
    [endpoint.id],
  );
  receiver.https.respond = failing;
  await letServiceSwitchOff('second');
  expect(await waitForState('missing')).toMatchObject({ nextProbeAt: null });
  await tenant.message('while inactive');
  await tenant.waitForRelay();

  await tenant.activate(endpoint);
  await waitForState('probing');
  const before = receiver.received().length;
  await succeedOnce('live');
  await waitForHealth();
  expect(countsAfter(before)).toEqual({ live: 1, first: 1, second: 1, 'while inactive': 1 });
});

it('gets what it missed also if it was tried in vain for five days before the service switched it off', async () => {
  await giveUp('first');
  await waitForState('probing');
  await moveClock(5 * DAY_MS + MINUTE_MS);
  await waitForState('stopped');
  await letServiceSwitchOff('second');
  await tenant.message('while inactive');
  await tenant.waitForRelay();

  await tenant.activate(endpoint);
  expect(await waitForState('probing')).toMatchObject({ stopReason: null });
  const before = receiver.received().length;
  await succeedOnce('live');
  await waitForHealth();
  expect(countsAfter(before)).toEqual({ live: 1, first: 1, second: 1, 'while inactive': 1 });
  expect(await openAlerts()).toEqual(['RECOVERY_FINISHED']);

  await giveUp('third');
  await waitFor('the end of the news', async () => (await openAlerts()).length === 0);
});

it('does nothing unless it is chosen, and begins with the first miss since the last success once it is', async () => {
  await tenant.edit(endpoint, { automaticRecovery: false });
  await succeedOnce('before');
  await giveUp('first', 'second');
  expect(await read()).toBeNull();
  await waitFor('a failing endpoint', async () => (await tenant.health(endpoint)).failingSince);
  const edited = await tenant.edit(endpoint, { automaticRecovery: true });
  expect(edited).toMatchObject({ automaticRecovery: true });
  await waitForState('probing');
  const before = receiver.received().length;
  await succeedOnce('live');
  await waitForHealth();
  expect(countsAfter(before)).toEqual({ live: 1, first: 1, second: 1 });
});
