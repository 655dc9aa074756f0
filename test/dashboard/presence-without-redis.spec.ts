import { ConversationPresence } from '../../src/inbox/presence/presence.dto';
import { VisitorStreams } from '../../src/channels/widget/visitor-streams';
import { WorkspaceEntity } from '../../src/workspaces/workspace.entity';
import { OwnRedis } from '../support/own-redis';
import { TestService } from '../support/service';
import { Browser, TestDashboard } from '../support/test-dashboard';
import { TestStream } from '../support/test-stream';
import { letTimePass, waitFor } from '../support/wait';
import { TestWidget } from '../support/widget';
import { stopAll } from '../support/stop-at-end';

/** Longest time in milliseconds that a request may take while Redis is away. */
const AT_ONCE_MS = 2_000;

/** Tests of who is in a conversation, over a time in which Redis is killed and started again, empty. */
describe('presence without Redis', () => {
  let redis: OwnRedis;
  let service: TestService;
  let dashboards: [TestDashboard, TestDashboard];
  let workspace: WorkspaceEntity;
  let bens: Browser;
  let lins: Browser;
  let benId: string;
  const streams: TestStream[] = [];

  beforeEach(async () => {
    redis = await OwnRedis.start();
    service = await TestService.create({ env: { REDIS_URL: redis.url } });
    const stores = { ...service.stores, redisUrl: redis.url };
    dashboards = [await TestDashboard.create(stores), await TestDashboard.create(stores)];
    workspace = await service.make.workspace();
    const ben = await service.make.agent(workspace, { role: 'AGENT' });
    benId = ben.id;
    bens = await dashboards[0].logIn(ben);
    lins = await dashboards[1].logIn(await service.make.agent(workspace, { role: 'AGENT' }));
  });
  afterEach(async () => {
    streams.splice(0).forEach((stream) => stream.close());
    await stopAll();
  });

  const path = () => `/api/workspaces/${workspace.id}/inbox/presence`;
  const openInbox = async (by: Browser) => {
    const stream = await by.stream(`/api/workspaces/${workspace.id}/inbox/stream`);
    streams.push(stream);
    await stream.next('ready');
    return stream;
  };
  const say = async (conversationId: string, act: string) =>
    expect(await bens.post(path(), { conversationId, act })).toMatchObject({ status: 204 });
  const read = async (conversationId: string): Promise<ConversationPresence[]> => {
    const { status, body } = await lins.get(`${path()}?conversationIds=${conversationId}`);
    expect(status).toBe(200);
    return body.data;
  };
  const showing = (conversationId: string, act: string) => [
    { conversationId, agents: [{ agentId: benId, act }], visitor: null },
  ];
  const atOnce = async <T>(work: () => Promise<T>): Promise<T> => {
    const begin = performance.now();
    const done = await work();
    expect(performance.now() - begin).toBeLessThan(AT_ONCE_MS);
    return done;
  };

  it('shows nobody while Redis is down, holds nobody up, and shows everybody again after it', async () => {
    const { id } = await service.make.conversation(workspace);
    const before = await openInbox(lins);
    await say(id, 'REPLYING');
    await before.next('presence');
    expect(await read(id)).toEqual(showing(id, 'REPLYING'));

    await redis.kill();
    await waitFor('the end of the connections', async () => (await read(id)).length === 0);
    await atOnce(() => say(id, 'REPLYING'));
    expect(await atOnce(() => read(id))).toEqual([]);
    expect(
      await atOnce(() => lins.get(`/api/workspaces/${workspace.id}/conversations?status=OPEN`)),
    ).toMatchObject({
      status: 200,
    });
    const during = await openInbox(lins);
    expect(before.hasEnded).toBe(false);

    await redis.restart();
    // The page says it again every few seconds.
    await waitFor('the colleague', async () => {
      await say(id, 'REPLYING');
      return (await read(id)).length > 0;
    });
    expect(await read(id)).toEqual(showing(id, 'REPLYING'));
    for (const stream of [before, during]) {
      const seen = stream.listEvents('presence').length;
      await waitFor('a stream to be told again', async () => {
        await say(id, 'LEFT');
        await say(id, 'LOOKING');
        await letTimePass(100);
        return stream.listEvents('presence').length > seen;
      });
    }
    expect(await read(id)).toEqual(showing(id, 'LOOKING'));
  });

  it('finds visitors and agents online again, and tells them again who types', async () => {
    const widget = await TestWidget.connect(service, workspace);
    const visitor = await widget.visitor(service);
    await visitor.post('m-1', 'Hello?');
    const { conversationId } = (await visitor.open()).body as { conversationId: string };
    await openInbox(bens);
    const stream = await visitor.stream();
    streams.push(stream);
    expect((await stream.next('ready')).data).toMatchObject({ isOnline: true });
    const shown = async () => (await read(conversationId))[0]?.visitor ?? null;
    const type = (isTyping = true) => visitor.send('POST', '/typing', { conversationId, isTyping });
    const sendHeartbeats = () => service.app.get(VisitorStreams, { strict: false }).sendHeartbeats();
    await waitFor('the visitor', async () => (await shown()) === 'ONLINE');
    await type();
    expect(await shown()).toBe('TYPING');

    await redis.kill();
    await waitFor('the end of the connections', async () => (await shown()) === null);
    expect(await atOnce(() => type())).toMatchObject({ status: 204 });
    await atOnce(sendHeartbeats);
    expect((await stream.next('heartbeat')).data).toMatchObject({ isOnline: false });
    await atOnce(() => say(conversationId, 'REPLYING'));

    await redis.restart();
    await waitFor('the visitor', async () => {
      await sendHeartbeats();
      return (await shown()) === 'ONLINE';
    });
    await type();
    expect(await shown()).toBe('TYPING');
    const seen = stream.listEvents('typing').filter(({ data }) => data.isTyping).length;
    await waitFor('the visitor to be told', async () => {
      await say(conversationId, 'REPLYING');
      await letTimePass(100);
      return stream.listEvents('typing').filter(({ data }) => data.isTyping).length > seen;
    });
    // The dashboard says every 15 s that an inbox is open.
    await waitFor(
      'an agent to be online',
      async () => {
        await sendHeartbeats();
        await letTimePass(500);
        return stream.listEvents('heartbeat').at(-1)!.data.isOnline as boolean;
      },
      25_000,
    );
    expect(stream.hasEnded).toBe(false);
  });
});
