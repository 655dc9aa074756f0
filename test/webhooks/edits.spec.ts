import { Actor, SYSTEM } from '../../src/access/principal';
import { WebhookEndpointsService } from '../../src/webhooks/endpoints/webhook-endpoints.service';
import { WebhookRecoveriesService } from '../../src/webhooks/recoveries/webhook-recoveries.service';
import { isGenuine } from '../../examples/verify-webhook';
import { expectRefusal } from '../support/errors';
import { HeldAnswers } from '../support/held-answers';
import { MessagingHost } from '../support/messaging-host';
import { Receiver } from '../support/receiver';
import { TestService } from '../support/service';
import { waitFor } from '../support/wait';
import {
  attemptsOf,
  deliveriesOf,
  insertPendingDeliveries,
  makeRetriesDue,
  waitForAttempts,
  waitForDeliveries,
} from '../support/stored-deliveries';
import { subscribe, Subscription } from '../support/webhook-workspace';

const BOTH = ['message.created', 'conversation.updated'];
/** Number of deliveries that takes several steps to cancel. */
const SEVERAL_STEPS = 450;

let service: TestService;
let host: MessagingHost;
let receiver: Receiver;
let held: HeldAnswers;

beforeAll(async () => {
  service = await TestService.create({ role: 'all' });
  host = await MessagingHost.create({ beside: service });
});
beforeEach(async () => {
  receiver = await Receiver.start();
  held = new HeldAnswers(receiver);
});
afterEach(() => receiver.stop());

const failAt = (...paths: string[]) => {
  receiver.https.respond = (response, { path }) => response.writeHead(paths.includes(path) ? 500 : 200).end();
};
const idsAt = (path: string) => receiver.received(path).map(({ headers }) => headers['webhook-id']);
const typesAt = (path: string) => receiver.received(path).map(({ envelope }) => envelope.event);

async function close({ workspace, conversation }: Subscription): Promise<void> {
  await service.make.updateConversation(workspace, conversation, { status: 'CLOSED' });
}

/** Makes one delivery of each of two types fail once. */
async function failBoth(): Promise<Subscription> {
  const subscription = await subscribe(service, receiver, { events: BOTH });
  failAt(subscription.path);
  await subscription.message();
  await close(subscription);
  await waitForAttempts(service, subscription.endpoint, 2);
  await waitForDeliveries(service, subscription.endpoint, 'PENDING', 2);
  return subscription;
}

describe('another address', () => {
  it('gets what the endpoint is owed: the same deliveries, with the attempts that are left', async () => {
    const subscription = await failBoth();
    const { endpoint, path } = subscription;
    const before = await deliveriesOf(service, endpoint);
    const edited = await subscription.edit(endpoint, { url: receiver.url('/new') });
    const atOld = receiver.received(path).length;
    expect(edited).toMatchObject({ url: receiver.url('/new'), version: 2, active: true });

    await makeRetriesDue(host, endpoint);
    const after = await waitForDeliveries(service, endpoint, 'SUCCEEDED', 2);

    expect(after.map(({ id }) => id)).toEqual(before.map(({ id }) => id));
    expect(after).toMatchObject([
      { round: 1, attempt_count: 2 },
      { round: 1, attempt_count: 2 },
    ]);
    expect(idsAt('/new').sort()).toEqual(before.map(({ id }) => id));
    expect(receiver.received(path)).toHaveLength(atOld);
    const [webhook] = receiver.received('/new');
    const signature = String(webhook!.headers['x-service-signature']);
    expect(isGenuine(webhook!.body, signature, endpoint.secret)).toBe(true);
  });

  it('gets the retry of an attempt that was in flight, whose failure does not count against it', async () => {
    const subscription = await subscribe(service, receiver);
    const { endpoint, path } = subscription;
    held.hold(path);
    await subscription.message();
    await held.waitForCount(path, 1);
    await subscription.edit(endpoint, { url: receiver.url('/new') });
    held.release(path, 500);
    await waitForAttempts(service, endpoint, 1);
    await makeRetriesDue(host, endpoint);

    const [delivery] = await waitForDeliveries(service, endpoint, 'SUCCEEDED');
    expect(delivery!.attempt_count).toBe(2);
    expect(idsAt('/new')).toEqual([delivery!.id]);
    expect(idsAt(path)).toEqual([delivery!.id]);
    await waitFor('the health', async () => (await subscription.health(endpoint)).lastSuccessAt);
    expect(await subscription.health(endpoint)).toMatchObject({ failingSince: null });
  });

  it('begins without failures and successes, and is not deactivated because the old one is gone', async () => {
    const subscription = await subscribe(service, receiver);
    const { endpoint, path } = subscription;
    receiver.https.respond = (response) => response.writeHead(500).end();
    await subscription.message();
    await waitFor('a failing endpoint', async () => (await subscription.health(endpoint)).failingSince);
    held.hold(path);
    await subscription.makeLastAttemptDue(endpoint);
    await held.waitForCount(path, 1);

    const edited = await subscription.edit(endpoint, { url: receiver.url('/new') });
    expect(edited).toMatchObject({ failingSince: null, lastSuccessAt: null });
    held.release(path, 410);

    await waitForDeliveries(service, endpoint, 'EXHAUSTED');
    await subscription.message();
    await receiver.waitForCount(1, '/new');
    expect(await subscription.endpoints.get(subscription.id, endpoint.id, SYSTEM)).toMatchObject({
      active: true,
      failingSince: null,
    });
  });

  it('misses no event, however many are made meanwhile', async () => {
    const subscription = await subscribe(service, receiver, { events: ['message.created'] });
    const { endpoint, path } = subscription;
    const sent: string[] = [];
    let isEditing = true;
    const sending = (async () => {
      while (isEditing) sent.push((await subscription.message()).id);
    })();
    for (let n = 1; n <= 5; n++) await subscription.edit(endpoint, { url: receiver.url(`/moved-${n}`) });
    isEditing = false;
    await sending;
    await waitForDeliveries(service, endpoint, 'SUCCEEDED', sent.length);
    const paths = [path, ...[1, 2, 3, 4, 5].map((n) => `/moved-${n}`)];
    const got = paths.flatMap((at) => receiver.received(at)).map(({ envelope }) => envelope.data.message.id);
    expect(got.sort()).toEqual(sent.sort());
  });

  it('is checked like a new endpoint’s, for those who may edit', async () => {
    const strict = await MessagingHost.create({ beside: service, webhookAllowedNetworks: [] });
    try {
      const subscription = await subscribe(service, receiver);
      const { workspace, endpoint } = subscription;
      const update = (input: object, actor: Actor = SYSTEM) =>
        strict
          .get(WebhookEndpointsService)
          .update(workspace.id, endpoint.id, { version: 1, ...input }, actor);
      const agent = await service.make.agent(workspace, { role: 'AGENT' });
      await expectRefusal(update({ url: 'https://10.0.0.1/' }, { type: 'agent', id: agent.id }), 'FORBIDDEN');
      for (const url of ['http://example.com', 'https://10.0.0.1/hook', receiver.url('/new'), '', 7])
        await expect(update({ url })).rejects.toMatchObject({
          code: 'INVALID_BODY',
          details: [{ field: 'url', message: expect.any(String) }],
        });
      expect(await update({ url: 'https://1.1.1.1/hook' })).toMatchObject({ url: 'https://1.1.1.1/hook' });
    } finally {
      await strict.close();
    }
  });
});

describe('an event type', () => {
  it('that was taken out is cancelled at once, and the others are delivered', async () => {
    const subscription = await failBoth();
    const { endpoint, path } = subscription;
    await subscription.edit(endpoint, { events: ['message.created'] });
    const statuses = async () =>
      Object.fromEntries((await subscription.list()).map(({ event, status }) => [event, status]));
    expect(await statuses()).toEqual({ 'message.created': 'pending', 'conversation.updated': 'cancelled' });
    expect(await subscription.health(endpoint)).toMatchObject({ last24Hours: { pending: 1, cancelled: 1 } });

    failAt();
    await makeRetriesDue(host, endpoint);
    await waitFor('both to end', async () =>
      (await deliveriesOf(service, endpoint)).every(({ finished_at }) => finished_at !== null),
    );
    expect(await deliveriesOf(service, endpoint)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ event_type: 'message.created', status: 'SUCCEEDED', attempt_count: 2 }),
        expect.objectContaining({
          event_type: 'conversation.updated',
          status: 'CANCELLED',
          attempt_count: 1,
        }),
      ]),
    );
    expect(typesAt(path).filter((type) => type === 'conversation.updated')).toHaveLength(1);
  });

  it('that was taken out is cancelled step by step, among thousands that are still owed', async () => {
    const subscription = await subscribe(service, receiver, { events: BOTH });
    const { endpoint, path, workspace } = subscription;
    await insertPendingDeliveries(service, subscription, 2 * SEVERAL_STEPS);
    // All are of the same moment, which is ahead.
    await service.query(
      `WITH changed AS (SELECT id FROM pending_deliveries WHERE tenant_id = $1 ORDER BY id LIMIT $2)
       UPDATE pending_deliveries p SET event_type = CASE WHEN p.id IN (SELECT id FROM changed) THEN 'conversation.updated'
         ELSE p.event_type END, next_attempt_at = now() + interval '1 hour' WHERE tenant_id = $1`,
      [workspace.id, SEVERAL_STEPS],
    );
    await subscription.edit(endpoint, { events: ['message.created'] });
    await waitFor('the cancellation', async () => {
      const { cancelling } = await subscription.health(endpoint);
      return cancelling?.cancelled === SEVERAL_STEPS;
    });
    expect((await deliveriesOf(service, endpoint)).filter(({ status }) => status === 'PENDING')).toHaveLength(
      SEVERAL_STEPS,
    );
    expect(typesAt(path)).not.toContain('conversation.updated');
  });

  it('that was taken out is not sent by a claim, whose rows are cancelled then', async () => {
    const subscription = await failBoth();
    const { endpoint, path, workspace } = subscription;
    // It looks as if nobody had noted that some are to be cancelled.
    await service.query('UPDATE webhook_endpoints SET events = $2 WHERE id = $1', [
      endpoint.id,
      ['message.created'],
    ]);
    failAt();
    await makeRetriesDue(host, endpoint);
    await waitFor('both to end', async () =>
      (await deliveriesOf(service, endpoint)).every(({ finished_at }) => finished_at !== null),
    );
    expect(typesAt(path).filter((type) => type === 'conversation.updated')).toHaveLength(1);
    expect(await attemptsOf(service, endpoint)).toHaveLength(3);
    const notes = await service.query('SELECT FROM pending_cancellations WHERE tenant_id = $1', [
      workspace.id,
    ]);
    expect(notes).toHaveLength(1);
  });

  it('that was added comes from the edit on', async () => {
    const subscription = await subscribe(service, receiver, { events: ['message.created'] });
    const { endpoint, path, workspace, conversation } = subscription;
    await close(subscription);
    await subscription.waitForRelay();
    await subscription.edit(endpoint, { events: BOTH });
    await service.make.updateConversation(workspace, conversation, { status: 'OPEN' });
    const [webhook] = await receiver.waitForCount(1, path);
    expect(webhook!.envelope).toMatchObject({ event: 'conversation.updated', data: { status: 'OPEN' } });
    await waitForDeliveries(service, endpoint, 'SUCCEEDED');
  });

  it('that was taken out is not delivered again', async () => {
    const subscription = await failBoth();
    const { endpoint, workspace } = subscription;
    failAt();
    await makeRetriesDue(host, endpoint);
    const deliveries = await waitForDeliveries(service, endpoint, 'SUCCEEDED', 2);
    await subscription.edit(endpoint, { events: ['message.created'] });
    const [updated] = deliveries.filter(({ event_type }) => event_type === 'conversation.updated');
    await expectRefusal(subscription.redeliver(updated!), 'INVALID_BODY');
    const recoveries = service.app.get(WebhookRecoveriesService, { strict: false });
    const all = { endpointId: endpoint.id, status: 'succeeded' as const };
    expect(await recoveries.redeliverMatching(workspace.id, all, { dryRun: true }, SYSTEM)).toMatchObject({
      total: 1,
    });
    await subscription.test(endpoint);
    const [test] = await subscription.list({ event: 'webhook.test' });
    await subscription.redeliver(test!);
    await waitFor('the test’s second round', async () => {
      const [now] = await subscription.list({ event: 'webhook.test' });
      return now!.attempts.length === 2;
    });
  });
});

describe('two edits', () => {
  it('at once: the second is refused, and changes nothing', async () => {
    const subscription = await subscribe(service, receiver);
    const { workspace, endpoint } = subscription;
    const update = (name: string) =>
      subscription.endpoints.update(workspace.id, endpoint.id, { version: 1, name }, SYSTEM);
    const outcomes = await Promise.allSettled([update('One'), update('Two')]);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(outcomes.find(({ status }) => status === 'rejected')).toMatchObject({
      reason: { code: 'CONFLICT', status: 409 },
    });
    const kept = outcomes.find((one) => one.status === 'fulfilled')!.value;
    expect(await subscription.endpoints.get(workspace.id, endpoint.id, SYSTEM)).toEqual(kept);
    expect(kept.version).toBe(2);
    // The same again, as after a lost answer.
    expect(await update(kept.name!)).toEqual(kept);
    const entries = (await subscription.auditOf(endpoint)).filter(({ action }) => action.endsWith('updated'));
    expect(entries).toHaveLength(1);
  });
});

it('changes what is given, within limits, and clears what is null', async () => {
  const subscription = await subscribe(service, receiver);
  const { workspace, endpoint } = subscription;
  const given = { name: 'CRM', description: 'Copies messages.', rateLimit: 9 };
  expect(await subscription.edit(endpoint, given)).toMatchObject({ ...given, url: endpoint.url });
  expect(await subscription.edit(endpoint, given)).toMatchObject({ ...given, version: 2 });
  await expectRefusal(subscription.edit(endpoint, {}), 'INVALID_BODY');
  const none = { name: null, description: null, rateLimit: null };
  expect(await subscription.edit(endpoint, none)).toMatchObject({ ...none, version: 3 });
  for (const [field, value] of Object.entries({
    events: [],
    name: ' ',
    description: 'x'.repeat(501),
    rateLimit: 0,
    secret: 'whsec_',
  }))
    await expect(subscription.edit(endpoint, { [field]: value })).rejects.toMatchObject({
      code: 'INVALID_BODY',
      details: [{ field, message: expect.any(String) }],
    });
  const stranger = await subscribe(service, receiver);
  await expectRefusal(
    stranger.endpoints.update(stranger.id, endpoint.id, { version: 3, name: 'Mine' }, SYSTEM),
    'NOT_FOUND',
  );
  await subscription.endpoints.delete(workspace.id, endpoint.id, SYSTEM);
  await expectRefusal(
    subscription.endpoints.update(workspace.id, endpoint.id, { version: 3, name: 'Gone' }, SYSTEM),
    'NOT_FOUND',
  );
});
