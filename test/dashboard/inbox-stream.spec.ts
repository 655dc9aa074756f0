import { SYSTEM } from '../../src/common/principal';
import { NotesService } from '../../src/notes/notes.service';
import { Database } from '../../src/database/database';
import { MessageStatusRepository } from '../../src/messages/message-status.repository';
import { EventNotices } from '../../src/outbox/event-notices';
import { RedisSignals } from '../../src/redis/redis-signals';
import { AgentEntity } from '../../src/workspaces/agent.entity';
import { AgentsService } from '../../src/workspaces/agents.service';
import { WorkspaceEntity } from '../../src/workspaces/workspace.entity';
import { TestService } from '../support/service';
import { Browser, TestDashboard } from '../support/test-dashboard';
import { TestStream } from '../support/test-stream';
import { letTimePass, waitFor } from '../support/wait';

/** Tests of the stream that tells an open inbox of changes. */
describe("the stream of the dashboard's inbox", () => {
  let service: TestService;
  let dashboard: TestDashboard;
  let workspace: WorkspaceEntity;
  let lin: AgentEntity;
  let browser: Browser;
  const streams: TestStream[] = [];

  beforeAll(async () => {
    service = await TestService.create();
    dashboard = await TestDashboard.create(service.stores);
  });
  afterAll(async () => {
    for (const stream of streams) stream.close();
    await dashboard.close();
    await service.close();
  });
  beforeEach(async () => {
    workspace = await service.make.workspace();
    lin = await service.make.agent(workspace, { role: 'AGENT' });
    browser = await dashboard.logIn(lin);
  });

  const open = async (by: Browser = browser): Promise<TestStream> => {
    const stream = await by.stream(`/api/workspaces/${workspace.id}/inbox/stream`);
    expect(stream.response.status).toBe(200);
    streams.push(stream);
    await stream.next('ready');
    return stream;
  };
  const toldOf = (stream: TestStream) =>
    stream
      .listEvents('changed')
      .flatMap(({ data }) => (data as { conversationIds: string[] | null }).conversationIds);

  it("tells each tab of messages and changes, by the conversation's id alone", async () => {
    const [first, second] = [await open(), await open()];
    const conversation = await service.make.conversation(workspace);
    await service.make.received(workspace, conversation, 'Where is my parcel?');
    await service.make.updateConversation(workspace, conversation, { status: 'CLOSED' });
    for (const stream of [first, second]) {
      await stream.next('changed', 2);
      expect(stream.listEvents('changed').map(({ data }) => data)).toEqual([
        { conversationIds: [conversation.id] },
        { conversationIds: [conversation.id] },
      ]);
    }
  });

  it('tells nothing of other workspaces, and nothing that is not about a conversation', async () => {
    const stream = await open();
    const other = await service.make.workspace();
    await service.make.received(other, await service.make.conversation(other));
    await service.make.apiKey(workspace);
    const own = await service.make.conversation(workspace);
    await service.make.received(workspace, own);
    await stream.next('changed');
    expect(toldOf(stream)).toEqual([own.id]);
    // A workspace that shares the channel is heard by the process, but not told.
    await dashboard.get(EventNotices).tellMissed();
    await letTimePass(100);
    expect(toldOf(stream)).toEqual([own.id]);
  });

  it('tells of a change whose signal was lost, once', async () => {
    const stream = await open();
    const conversation = await service.make.conversation(workspace);
    // The event is there, and no signal told of it.
    await service.query(
      `INSERT INTO events (tenant_id, id, type, data, created_at)
       VALUES ($1, $2, 'message.created', json_build_object('conversationId', $3::text), now())`,
      [workspace.id, conversation.id, conversation.id],
    );
    const notices = dashboard.get(EventNotices);
    for (let round = 0; round < 2; round++) await notices.tellMissed();
    await stream.next('changed');
    await letTimePass(100);
    expect(toldOf(stream)).toEqual([conversation.id]);
  });

  it('tells of a note, and of its deletion, also when the signal was lost', async () => {
    const stream = await open();
    const conversation = await service.make.conversation(workspace);
    const notes = dashboard.get(NotesService);
    const author = { type: 'agent' as const, id: lin.id };
    const { id } = await notes.create(workspace.id, conversation.id, { body: 'Ask Ana.' }, author);
    await stream.next('changed');
    await notes.delete(workspace.id, id, author);
    await stream.next('changed', 2);
    expect(toldOf(stream)).toEqual([conversation.id, conversation.id]);

    const lost = jest.spyOn(dashboard.get(RedisSignals), 'send').mockReturnValue();
    await notes.create(workspace.id, conversation.id, { body: 'And Ben.' }, author);
    lost.mockRestore();
    const notices = dashboard.get(EventNotices);
    for (let round = 0; round < 2; round++) await notices.tellMissed();
    await stream.next('changed', 3);
    await letTimePass(100);
    expect(toldOf(stream)).toEqual([conversation.id, conversation.id, conversation.id]);
  });

  it('says that everything may have changed, once more was missed than is listed', async () => {
    const stream = await open();
    await service.query(
      `INSERT INTO events (tenant_id, id, type, data, created_at)
       SELECT $1, (left($2, 24) || lpad(to_hex(i), 12, '0'))::uuid, 'message.created',
         json_build_object('conversationId', $2::text), now() FROM generate_series(1, 300) i`,
      [workspace.id, (await service.make.conversation(workspace)).id],
    );
    await dashboard.get(EventNotices).tellMissed();
    await stream.next('changed');
    expect(toldOf(stream)).toContain(null);
  });

  it.each([
    ['its session is logged out', () => browser.post('/api/logout')],
    [
      'its agent is deactivated',
      () => service.app.get(AgentsService).update(workspace.id, lin.id, { active: false }, SYSTEM),
    ],
  ])('ends when %s', async (_, end) => {
    const stream = await open();
    await end();
    await stream.ended();
    expect(stream.events.at(-1)).toMatchObject({ event: 'end', data: { reason: 'session_ended' } });
    const again = await browser.stream(`/api/workspaces/${workspace.id}/inbox/stream`);
    streams.push(again);
    expect([401, 404]).toContain(again.response.status);
  });

  it('ends when the role changes, and goes on in the new one', async () => {
    const stream = await open();
    await service.app.get(AgentsService).update(workspace.id, lin.id, { role: 'ADMIN' }, SYSTEM);
    await stream.ended();
    const again = await open();
    await letTimePass(1_500);
    const conversation = await service.make.conversation(workspace);
    await service.make.received(workspace, conversation);
    await again.next('changed');
    expect(toldOf(again)).toEqual([conversation.id]);
  });

  it('tells of a storm in few notices', async () => {
    const stream = await open();
    const ids: string[] = [];
    for (let n = 0; n < 30; n++) {
      const conversation = await service.make.conversation(workspace);
      await service.make.received(workspace, conversation);
      ids.push(conversation.id);
    }
    const begin = performance.now();
    await waitFor('all notices', () => new Set(toldOf(stream)).size === ids.length);
    expect(performance.now() - begin).toBeLessThan(1_000);
    const told = stream.listEvents('changed').length;
    expect(told).toBeLessThan(ids.length);
  });

  it('tells of what becomes of a message, without an event', async () => {
    const conversation = await service.make.conversation(workspace);
    await service.make.agent(workspace);
    const { id: messageId } = await service.make.sent(workspace, conversation);
    const changes = () => advance(conversation.id, messageId, 'SENT');
    // Nobody listens yet, so that the service stops to send signals for a while.
    await changes();
    await letTimePass(300);
    const stream = await open();
    await waitFor('everything', () => toldOf(stream).includes(null));
    const before = toldOf(stream).length;
    await advance(conversation.id, messageId, 'DELIVERED');
    await waitFor('the delivery', () => toldOf(stream).slice(before).includes(conversation.id), 2_000);
  });

  const advance = (conversationId: string, messageId: string, status: 'SENT' | 'DELIVERED') =>
    service.app
      .get(Database, { strict: false })
      .transaction((tx) =>
        service.app
          .get(MessageStatusRepository, { strict: false })
          .advance(tx, { tenantId: workspace.id, conversationId, messageId }, status),
      );

  it('stops to listen with the last tab', async () => {
    const [first, second] = [await open(), await open()];
    const conversation = await service.make.conversation(workspace);
    first.close();
    await service.make.received(workspace, conversation);
    await second.next('changed');
    second.close();
    await first.ended();
    await second.ended();
    const third = await open();
    await service.make.received(workspace, conversation);
    await third.next('changed');
    expect(toldOf(third)).toEqual([conversation.id]);
  });
});
