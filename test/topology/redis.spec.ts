import { newId } from '../../src/common/ids';
import { SYSTEM } from '../../src/access/principal';
import { AgentAct } from '../../src/inbox/presence/presence.dto';
import { PresenceService } from '../../src/inbox/presence/presence.service';
import { WAKE_UP_QUEUE } from '../../src/queue/wake-ups';
import { RedisClient } from '../../src/redis/redis-client';
import { RedisSubscriber } from '../../src/redis/redis-subscriber';
import { WebhookEndpointsService } from '../../src/webhooks/endpoints/webhook-endpoints.service';
import { ApiClient } from '../support/api-client';
import { Chat, ConnectedWorkspace } from '../support/connected-workspace';
import { makeServerContext, ServerContext, withLogs } from '../support/server-context';
import { openQueue } from '../support/redis-connections';
import { RedisNode } from '../../scripts/servers/redis-node.mjs';
import { RedisCluster } from '../../scripts/servers/redis-cluster.mjs';
import { RedisSentinels } from '../support/redis-sentinels.mjs';
import { Receiver } from '../support/receiver';
import { TestService } from '../support/service';
import { TelegramSimulator } from '../support/simulators/telegram';
import { createStores, dropStores, TestStores } from '../support/test-database';
import { letTimePass, waitFor } from '../support/wait';
import { TestWidget } from '../support/widget';

const isFull = process.env['TOPOLOGY'] !== undefined;
const MESSAGES = isFull ? 1_200 : 120;
const CALLERS = 4;
/** Number of chats that share the load: Telegram takes one message a second for each. */
const CHATS = 20;
const KILL_AFTER = MESSAGES / 4;
/** Pause between two messages of a caller, so that the load lasts longer than the failover. */
const PAUSE_MS = 60;
/**
 * Time after which the work is finished: longer than a failover, than the time until each worker has found
 * the new primary, and than a lease.
 */
const SETTLED_MS = 60_000;

const KINDS = [
  { kind: 'a Cluster', Several: RedisCluster },
  { kind: 'Sentinels', Several: RedisSentinels },
];

describe.each(KINDS)('with Redis as $kind', ({ Several }) => {
  let context: ServerContext;
  let redis: RedisCluster | RedisSentinels;
  let stores: TestStores;
  let telegram: TelegramSimulator;
  let receiver: Receiver;
  let one: TestService;
  let other: TestService;

  beforeAll(async () => {
    context = await makeServerContext();
    redis = await Several.start(context);
    stores = { ...(await createStores()), redisUrl: redis.url };
    telegram = await new TelegramSimulator().start();
    receiver = await Receiver.start();
    const options = {
      role: 'all' as const,
      beside: { stores },
      env: telegram.environment,
    };
    one = await TestService.create(options);
    other = await TestService.create(options);
  });
  afterAll(async () => {
    await Promise.all([one.close(), other.close()]);
    await Promise.all([telegram.stop(), receiver.stop(), dropStores(stores)]);
    redis.disconnect();
    await context.reaper.finish();
  });

  const isUp = async ({ client }: TestService) =>
    (await client.send({ method: 'GET', path: '/health/ready' })).body.redis === 'up';

  /**
   * Makes five calls through the two processes in turn, for a new workspace that may make four. Returns the
   * statuses.
   */
  async function answersToFive(): Promise<number[]> {
    const workspace = await one.make.workspace({ rateLimit: 4 });
    const { key } = await one.make.apiKey(workspace);
    const statuses: number[] = [];
    for (let n = 0; n < 5; n++) {
      const { client } = n % 2 === 0 ? one : other;
      statuses.push((await client.as({ key }).get('/me')).status);
    }
    return statuses;
  }

  async function waitForSignals(): Promise<void> {
    const channel = newId();
    let heard = 0;
    void other.app.get(RedisSubscriber).subscribe(channel, () => (heard += 1));
    await waitFor('a signal', async () => {
      await one.app
        .get(RedisClient)
        .publish(channel, '')
        .catch(() => undefined);
      return heard;
    });
    other.app.get(RedisSubscriber).unsubscribe(channel);
  }

  /** Waits until one process shows who is in a conversation at the other one, and is told of it. */
  async function waitForPresence(): Promise<void> {
    const workspace = await one.make.workspace();
    const { id: agentId } = await one.make.agent(workspace);
    const { id: conversationId } = await one.make.conversation(workspace);
    const [own, others] = [one, other].map(({ app }) => app.get(PresenceService, { strict: false }));
    const ids: string[] = [];
    const { stop } = others!.listen(workspace.id, (id) => ids.push(id));
    const agent = { type: 'agent' as const, id: agentId };
    const act = (does: AgentAct | 'LEFT') => own!.signal(workspace.id, { conversationId, act: does }, agent);
    const shown = () => others!.list(workspace.id, { conversationIds: [conversationId] }, SYSTEM);
    await waitFor('a notice of who is there', async () => {
      await act('LEFT');
      await act('LOOKING');
      return ids.length;
    });
    await waitFor('who is there', async () => {
      await act('REPLYING');
      return (await shown()).length;
    });
    expect(await shown()).toEqual([
      { conversationId, agents: [{ agentId, act: 'REPLYING' }], visitor: null },
    ]);
    expect(new Set(ids)).toEqual(new Set([conversationId]));
    await act('LEFT');
    expect(await shown()).toEqual([]);
    stop();
  }

  async function waitForJobs(): Promise<void> {
    const jobs = openQueue<{ n: number }>('jobs', stores.redisUrl);
    const done: number[] = [];
    void jobs.queue.process(({ data }) => void done.push(data.n));
    await jobs.queue.add({ n: 1 }, { delay: 50 });
    await waitFor('a job', () => done.length);
    await jobs.close();
  }

  it('counts calls over all processes', async () => {
    await waitFor('Redis', async () => (await isUp(one)) && (await isUp(other)));
    expect(await answersToFive()).toEqual([200, 200, 200, 200, 429]);
  });

  it('carries signals and jobs', async () => {
    await waitForSignals();
    await waitForJobs();
  });

  it('shows at one process who is in a conversation at the other', waitForPresence);

  it("carries a message to a visitor's stream at another process", async () => {
    const workspace = await one.make.workspace();
    await one.make.agent(workspace);
    const widget = await TestWidget.connect(one, workspace);
    const visitor = await widget.visitor(other);
    await visitor.post('m-1', 'Hello?');
    const stream = await visitor.stream();
    await stream.next('ready');
    const { conversationId } = (await visitor.open()).body;
    const client = one.client.as(await one.make.apiKey(workspace));
    await client.post(`/conversations/${conversationId}/messages`, { body: 'Hello.' });
    expect((await stream.next('message')).data.message.body).toBe('Hello.');
    stream.close();
  });

  it(
    'loses nothing and sends nothing twice when a primary is killed under load',
    () => withLogs(context, killPrimaryUnderLoad),
    300_000,
  );

  async function killPrimaryUnderLoad(): Promise<void> {
    const connected = await ConnectedWorkspace.telegram(one);
    const { workspace } = connected;
    const endpoint = { url: receiver.url(), events: ['message.created' as const] };
    await one.app.get(WebhookEndpointsService).create(workspace.id, endpoint, SYSTEM);
    const key = await one.make.apiKey(workspace);
    const chats = await Promise.all(Array.from({ length: CHATS }, () => connected.chat()));
    /** Texts by conversation, in the order in which they were accepted. */
    const texts = new Map(chats.map(({ conversation }) => [conversation.id, [] as string[]]));
    const messageIds: string[] = [];
    let victim: RedisNode | undefined;

    async function sendAll(client: ApiClient, own: Chat[]): Promise<void> {
      for (let n = 0; n < MESSAGES / CALLERS; n++) {
        const { id } = own[n % own.length]!.conversation;
        const { status, body } = await client.post(`/conversations/${id}/messages`, {
          body: `message ${n}`,
        });
        expect({ status, body }).toMatchObject({ status: 201 });
        texts.get(id)!.push(`message ${n}`);
        if (messageIds.push(body.message.id as string) === KILL_AFTER) {
          victim = await primaryOf(redis);
          await victim.kill();
        }
        await letTimePass(PAUSE_MS);
      }
    }
    const clients = [one, other].map((service) => service.client.as(key));
    const share = CHATS / CALLERS;
    await Promise.all(
      Array.from({ length: CALLERS }, (_, n) =>
        sendAll(clients[n % 2]!, chats.slice(n * share, (n + 1) * share)),
      ),
    );

    for (const { conversation, customerId } of chats) {
      const expected = texts.get(conversation.id)!;
      const sent = () => telegram.textsTo(customerId);
      await waitFor('the replies', () => sent().length >= expected.length, SETTLED_MS);
      expect(sent()).toEqual(expected);
    }
    const heardOf = () =>
      new Set(receiver.received().map(({ envelope }) => envelope.data.message.id as string));
    await waitFor('the webhooks', () => heardOf().size >= MESSAGES, SETTLED_MS);
    expect(heardOf()).toEqual(new Set(messageIds));
    await waitFor('a limit over both processes', async () => (await answersToFive()).at(-1) === 429);
    await waitForSignals();
    await waitForPresence();
    await waitForJobs();
    expect(await Promise.all([one, other].map(isUp))).toEqual([true, true]);
    await victim!.restart();
  }
});

/** Returns the primary; in a Cluster that of the queue which wakes outbound messages. */
function primaryOf(redis: RedisCluster | RedisSentinels): Promise<RedisNode> {
  return redis instanceof RedisCluster ? redis.primaryOf(`{${WAKE_UP_QUEUE}}`) : redis.primary();
}
