import { SYSTEM } from '../../src/access/principal';
import { MessagingHost } from '../support/messaging-host';
import { Receiver, ReceivedWebhook } from '../support/receiver';
import { TestService } from '../support/service';
import { RedisMonitor } from '../support/redis-monitor';
import { waitFor } from '../support/wait';
import { attemptsOf, deliveriesOf, insertPendingDeliveries } from '../support/stored-deliveries';
import { WebhookWorkspace } from '../support/webhook-workspace';

let service: TestService;
let beside: TestService;
let host: MessagingHost;
let tenant: WebhookWorkspace;
let receiver: Receiver;

beforeAll(async () => {
  service = await TestService.create({ role: 'api' });
  beside = await TestService.create({ role: 'api', beside: service });
  host = await MessagingHost.create({ beside: service });
  await Promise.all([1, 2].map(() => TestService.create({ role: 'worker', beside: service })));
});

beforeEach(async () => {
  receiver = await Receiver.start();
  tenant = await WebhookWorkspace.create(host);
});
afterEach(() => receiver.stop());

describe('the rate of an endpoint', () => {
  /** Counts the deliveries of an endpoint that Redis grants in each second. */
  async function watchGrants(work: (endpointIs: (id: string) => void) => Promise<void>): Promise<number[]> {
    const granted: { key: string; count: number; startsSecond: boolean }[] = [];
    let endpointId = '';
    const monitor = await RedisMonitor.start(service.stores.redisUrl, ([command, key, value]) => {
      if (command === 'INCRBY') granted.push({ key: key!, count: Number(value), startsSecond: false });
      if (command === 'PEXPIRE' && key!.startsWith('throughput:')) {
        expect(value).toBe('1000');
        granted.at(-1)!.startsSecond = true;
      }
    });
    try {
      await work((id) => (endpointId = id));
    } finally {
      monitor.stop();
    }
    const seconds: number[] = [];
    for (const { count, startsSecond } of granted.filter(({ key }) => key === `throughput:${endpointId}`)) {
      if (startsSecond) seconds.push(count);
      else seconds[seconds.length - 1]! += count;
    }
    return seconds;
  }

  it('is kept over all workers together, and waiting for it costs no attempt', async () => {
    const seconds = await watchGrants(async (endpointIs) => {
      const endpoint = await tenant.addEndpoint(receiver.url(), { rateLimit: 5 });
      endpointIs(endpoint.id);
      await Promise.all(Array.from({ length: 17 }, () => tenant.message()));
      const deliveries = await tenant.waitForStatus(endpoint, 'succeeded', 17);
      expect(deliveries.every(({ attempts }) => attempts.length === 1)).toBe(true);
    });
    expect(Math.max(...seconds)).toBeLessThanOrEqual(5);
    // On a busy machine a grant may stay unused, because it is too late to begin the attempt.
    expect(seconds.reduce((sum, count) => sum + count)).toBeGreaterThanOrEqual(17);
    expect(receiver.received()).toHaveLength(17);
    const [endpoint] = await tenant.endpoints.list(tenant.id, SYSTEM);
    const attempts = await attemptsOf(service, endpoint!);
    expect(attempts.map(({ attempt }) => attempt)).toEqual(Array(17).fill(1));
  });

  it('changes no row of what must wait for it, and keeps the order of what is due', async () => {
    const endpoint = await tenant.addEndpoint(receiver.url('/rated'), { rateLimit: 1 });
    await host.query('CREATE TABLE changes (id uuid)');
    await host.query(
      `CREATE FUNCTION note_change() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
       BEGIN INSERT INTO changes VALUES (NEW.id); RETURN NEW; END $$`,
    );
    await host.query(
      `CREATE TRIGGER notes_change BEFORE UPDATE ON pending_deliveries FOR EACH ROW
       WHEN (NEW.endpoint_id = '${endpoint.id}') EXECUTE FUNCTION note_change()`,
    );
    try {
      await insertPendingDeliveries(host, { workspace: tenant.workspace, endpoint }, 20);
      const before = await deliveriesOf(host, endpoint);
      await receiver.waitForCount(5, '/rated');
      const sent = receiver.received('/rated').map(({ headers }) => headers['x-service-delivery']);
      const changes = await host.query<{ id: string }>('SELECT DISTINCT id FROM changes');
      // The next one may be under way.
      expect(changes.length).toBeLessThanOrEqual(sent.length + 1);
      expect(sent).toEqual(before.map(({ id }) => id).slice(0, sent.length));
    } finally {
      await host.query('DROP TRIGGER notes_change ON pending_deliveries');
    }
  });

  it('does not hold up another endpoint of the same workspace', async () => {
    const slow = await tenant.addEndpoint(receiver.url('/slow'), { rateLimit: 1 });
    const fast = await tenant.addEndpoint(receiver.url('/fast'));
    for (let n = 0; n < 30; n++) await tenant.message();
    await tenant.waitForStatus(fast, 'succeeded', 30);
    expect((await tenant.list({ endpointId: slow.id, status: 'pending' })).length).toBeGreaterThan(0);
  });
});

describe('the order of a conversation', () => {
  const sequenceOf = ({ headers }: ReceivedWebhook) => headers['x-service-sequence'];

  it('is in the sequence of its events, however many write to it at once', async () => {
    await tenant.addEndpoint(receiver.url(), { events: ['message.created', 'conversation.updated'] });
    const conversations = await Promise.all([1, 2, 3].map(() => service.make.conversation(tenant.workspace)));
    await Promise.all(
      conversations.flatMap((conversation) =>
        Array.from({ length: 8 }, (_, i) => {
          const { make } = i % 2 ? service : beside;
          return i % 4 === 3
            ? make.updateConversation(tenant.workspace, conversation, {
                status: i % 8 === 3 ? 'CLOSED' : 'SNOOZED',
              })
            : make.received(tenant.workspace, conversation, `${i}`);
        }),
      ),
    );
    for (const { id } of conversations) {
      const events = await service.query<{ sequence: string }>(
        `SELECT sequence FROM events
         WHERE tenant_id = $1 AND data->>'conversationId' = $2 AND sequence IS NOT NULL ORDER BY sequence`,
        [tenant.id, id],
      );
      const own = (webhook: ReceivedWebhook) => webhook.envelope.data.conversationId === id;
      const received = await waitFor('all events of a conversation', () => {
        const webhooks = receiver.received().filter(own);
        return webhooks.length === events.length && webhooks;
      });
      // The numbers begin at 1, without a gap or a repetition.
      const numbers = received.map((webhook) => Number(sequenceOf(webhook))).sort((a, b) => a - b);
      expect(numbers).toEqual(events.map((_, i) => i + 1));
      // Messages are listed in the order in which they were written; their numbers rise with it.
      const messages = received.filter(({ envelope }) => envelope.event === 'message.created');
      const byId = (webhook: ReceivedWebhook) => webhook.envelope.data.message.id as string;
      const inOrder = [...messages]
        .sort((a, b) => (byId(a) < byId(b) ? -1 : 1))
        .map((m) => Number(sequenceOf(m)));
      expect(inOrder).toEqual([...inOrder].sort((a, b) => a - b));
    }
  });

  it('has the message before the reopening that it brings about', async () => {
    await service.make.updateConversation(tenant.workspace, tenant.conversation, { status: 'CLOSED' });
    await tenant.waitForRelay(); // the endpoint must not get this event
    await tenant.addEndpoint(receiver.url(), { events: ['message.created', 'conversation.updated'] });
    await tenant.message('Hello again');
    const received = await receiver.waitForCount(2);
    const bySequence = [...received].sort((a, b) => Number(sequenceOf(a)) - Number(sequenceOf(b)));
    expect(bySequence.map(({ envelope }) => envelope.event)).toEqual([
      'message.created',
      'conversation.updated',
    ]);
  });

  it('is the same on every retry', async () => {
    receiver.https.respond = (response) => {
      response.writeHead(receiver.https.requests.length < 3 ? 503 : 204).end();
    };
    const endpoint = await tenant.addEndpoint(receiver.url());
    await tenant.message();
    await tenant.message();
    await tenant.waitForStatus(endpoint, 'succeeded', 2);
    const byDelivery = new Map<unknown, Set<unknown>>();
    for (const webhook of receiver.received()) {
      const id = webhook.headers['x-service-delivery'];
      byDelivery.set(id, (byDelivery.get(id) ?? new Set()).add(sequenceOf(webhook)));
    }
    expect(receiver.received().length).toBeGreaterThan(2);
    expect([...byDelivery.values()].map((sequences) => [...sequences]).sort()).toEqual([['1'], ['2']]);
  });

  it('is not that of what belongs to no conversation', async () => {
    tenant = await WebhookWorkspace.create(host, { planTier: 'ENTERPRISE' });
    const endpoint = await tenant.addEndpoint(receiver.url(), { events: ['audit.event'] });
    await tenant.test(endpoint);
    await receiver.waitFor(({ envelope }) => envelope.event === 'audit.event');
    const events = receiver.received().map(({ envelope }) => envelope.event);
    expect([...new Set(events)].sort()).toEqual(['audit.event', 'webhook.test']);
    for (const { headers } of receiver.received()) expect(headers).not.toHaveProperty('x-service-sequence');
  });
});
