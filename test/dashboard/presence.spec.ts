import { ConversationPresence } from '../../src/inbox/presence/presence.dto';
import { ConversationEntity } from '../../src/conversations/conversation.entity';
import { AgentEntity } from '../../src/workspaces/agent.entity';
import { WorkspaceEntity } from '../../src/workspaces/workspace.entity';
import { keysOf, openRedis } from '../support/redis-connections';
import { TestService } from '../support/service';
import { Browser, TestDashboard } from '../support/test-dashboard';
import { TestStream } from '../support/test-stream';
import { letTimePass, waitFor } from '../support/wait';

/** Longest time for which a stream collects what it tells of. */
const COLLECTED_FOR_MS = 200;

/** Tests of who is told to look at a conversation, and to write in it. Each agent has another process. */
describe("presence in the dashboard's inbox", () => {
  let service: TestService;
  let dashboards: [TestDashboard, TestDashboard];
  let workspace: WorkspaceEntity;
  let conversation: Pick<ConversationEntity, 'id'>;
  let ben: AgentEntity;
  let bens: Browser;
  let lins: Browser;
  const streams: TestStream[] = [];

  beforeAll(async () => {
    service = await TestService.create();
    dashboards = [await TestDashboard.create(service.stores), await TestDashboard.create(service.stores)];
  });
  afterAll(() => {
    for (const stream of streams) stream.close();
  });
  beforeEach(async () => {
    workspace = await service.make.workspace();
    ben = await service.make.agent(workspace, { role: 'AGENT' });
    bens = await dashboards[0].logIn(ben);
    lins = await dashboards[1].logIn(await service.make.agent(workspace, { role: 'AGENT' }));
    conversation = await service.make.conversation(workspace);
  });

  const pathOf = ({ id }: WorkspaceEntity) => `/api/workspaces/${id}/inbox/presence`;
  const say = async (by: Browser, act: string, conversationId = conversation.id) => {
    const { status } = await by.post(pathOf(workspace), { conversationId, act });
    expect(status).toBe(204);
  };
  const read = async (by: Browser, ...ids: string[]): Promise<ConversationPresence[]> => {
    const conversationIds = ids.length > 0 ? ids : [conversation.id];
    const { status, body } = await by.get(`${pathOf(workspace)}?conversationIds=${conversationIds.join()}`);
    expect(status).toBe(200);
    return body.data;
  };
  const showing = (act: string) => [
    { conversationId: conversation.id, agents: [{ agentId: ben.id, act }], visitor: null },
  ];

  it('shows colleagues on every process what an agent does, and not the agent', async () => {
    expect(await read(lins)).toEqual([]);
    await say(bens, 'LOOKING');
    expect(await read(lins)).toEqual(showing('LOOKING'));
    await say(bens, 'REPLYING');
    expect(await read(lins)).toEqual(showing('REPLYING'));
    await say(bens, 'NOTING');
    expect(await read(lins)).toEqual(showing('NOTING'));
    await say(bens, 'LOOKING');
    expect(await read(lins)).toEqual(showing('LOOKING'));
    expect(await read(bens)).toEqual([]);
    await say(bens, 'LEFT');
    expect(await read(lins)).toEqual([]);
  });

  it('reads many conversations at once, and names those with somebody', async () => {
    const others = [await service.make.conversation(workspace), await service.make.conversation(workspace)];
    await say(bens, 'LOOKING');
    await say(bens, 'REPLYING', others[1]!.id);
    const ids = [conversation, ...others].map(({ id }) => id);
    expect(await read(lins, ...ids)).toEqual([
      ...showing('LOOKING'),
      { conversationId: others[1]!.id, agents: [{ agentId: ben.id, act: 'REPLYING' }], visitor: null },
    ]);
    const tooMany = Array.from({ length: 101 }, () => conversation.id).join();
    expect(await lins.get(`${pathOf(workspace)}?conversationIds=${tooMany}`)).toMatchObject({ status: 400 });
  });

  it('tells a stream of another process at once, once for each beginning and end', async () => {
    const stream = await lins.stream(`/api/workspaces/${workspace.id}/inbox/stream`);
    streams.push(stream);
    await stream.next('ready');
    const nextNotice = (n: number) => stream.next('presence', n, 2_000);
    await say(bens, 'LOOKING');
    expect((await nextNotice(1)).data).toEqual({ conversationIds: [conversation.id] });
    // Repeated: nothing has changed.
    await say(bens, 'LOOKING');
    await say(bens, 'REPLYING');
    await nextNotice(2);
    await say(bens, 'REPLYING');
    await letTimePass(500);
    expect(stream.listEvents('presence')).toHaveLength(2);
    await say(bens, 'LEFT');
    await nextNotice(3);
  });

  it('collects what happens at once: a stream gets at most a few events for many', async () => {
    const stream = await lins.stream(`/api/workspaces/${workspace.id}/inbox/stream`);
    streams.push(stream);
    await stream.next('ready');
    const ids: string[] = [];
    for (let n = 0; n < 30; n++) ids.push((await service.make.conversation(workspace)).id);
    const startedAt = performance.now();
    await Promise.all(ids.map((id) => say(bens, 'LOOKING', id)));
    const toldOf = () =>
      stream
        .listEvents('presence')
        .flatMap(({ data }) => (data as { conversationIds: string[] }).conversationIds);
    await waitFor('all of them', () => toldOf().length >= ids.length);
    expect(new Set(toldOf())).toEqual(new Set(ids));
    const intervals = Math.ceil((performance.now() - startedAt) / COLLECTED_FOR_MS);
    expect(stream.listEvents('presence').length).toBeLessThanOrEqual(intervals + 1);
  });

  it('forgets who writes after six seconds, and keeps nothing for longer than a minute', async () => {
    await say(bens, 'REPLYING');
    const redis = openRedis(service.stores.redisUrl);
    const [key] = await keysOf(redis, `presence:${workspace.id}:*`);
    expect(await redis.pttl(key!)).toBeLessThanOrEqual(60_000);
    const scores = await redis.zrange(key!, 0, -1, 'WITHSCORES');
    const ends = Object.fromEntries([0, 2].map((n) => [scores[n]!.split(' ')[0], Number(scores[n + 1])]));
    expect(ends['LOOKING']! - ends['REPLYING']!).toBeCloseTo(39_000, -2);
    await waitFor(
      'the end of the writing',
      async () => (await read(lins))[0]?.agents[0]?.act === 'LOOKING',
      8_000,
    );
    redis.disconnect();
  });

  it('shows nobody after Redis was wiped, until something is said again', async () => {
    await say(bens, 'LOOKING');
    const redis = openRedis(service.stores.redisUrl);
    const keys = await keysOf(redis, `presence:${workspace.id}:*`);
    await redis.del(...keys);
    redis.disconnect();
    expect(await read(lins)).toEqual([]);
    await say(bens, 'LOOKING');
    expect(await read(lins)).toEqual(showing('LOOKING'));
  });

  it('shows nothing of another workspace, and nothing to it', async () => {
    const other = await service.make.workspace();
    const stranger = await dashboards[0].logIn(await service.make.agent(other));
    await say(bens, 'LOOKING');
    const asked = `?conversationIds=${conversation.id}`;
    expect(await stranger.get(pathOf(workspace) + asked)).toMatchObject({ status: 404 });
    expect((await stranger.get(pathOf(other) + asked)).body).toMatchObject({ data: [] });
    // The id of a foreign conversation says nothing there.
    const foreign = { conversationId: conversation.id, act: 'REPLYING' };
    expect(await stranger.post(pathOf(other), foreign)).toMatchObject({ status: 204 });
    expect(await read(lins)).toEqual(showing('LOOKING'));
  });

  it('bounds what one person says, and how many agents a conversation shows', async () => {
    const statuses: number[] = [];
    // A process that Redis has answered late counts for itself for a while, so the limit may come later.
    while (!statuses.includes(429) && statuses.length < 1_500) {
      const body = { conversationId: conversation.id, act: 'LOOKING' };
      // More at once would wait for each other too long, and be refused for that.
      const answers = await Promise.all(Array.from({ length: 10 }, () => bens.post(pathOf(workspace), body)));
      statuses.push(...answers.map(({ status }) => status));
    }
    expect(statuses).toContain(429);
    expect(statuses.filter((status) => status === 204).length).toBeGreaterThanOrEqual(240);
    const redis = openRedis(service.stores.redisUrl);
    const key = `presence:${workspace.id}:${conversation.id}`;
    const crowd = Array.from({ length: 100 }, (_, n) => [Date.now() + 40_000, `LOOKING ${n}`]).flat();
    await redis.zadd(key, ...crowd);
    await say(lins, 'LOOKING');
    expect(await redis.zcard(key)).toBe(101);
    redis.disconnect();
  });
});
