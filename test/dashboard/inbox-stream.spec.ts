import { SYSTEM } from '../../src/access/principal';
import { ContactsService } from '../../src/contacts/contacts.service';
import { CustomersService } from '../../src/contacts/customers.service';
import { ConversationsService } from '../../src/conversations/conversations.service';
import { NotesService } from '../../src/inbox/notes/notes.service';
import { Database } from '../../src/database/database';
import { MessageStatusRepository } from '../../src/messages/message-status.repository';
import { EventNotices } from '../../src/outbox/event-notices';
import { EventlessChanges } from '../../src/outbox/eventless-changes';
import { ContactErasuresService } from '../../src/privacy/contact-erasures.service';
import { RedisSignals } from '../../src/redis/redis-signals';
import { AgentEntity } from '../../src/workspaces/agent.entity';
import { AgentsService } from '../../src/workspaces/agents.service';
import { WorkspaceEntity } from '../../src/workspaces/workspace.entity';
import { TestService } from '../support/service';
import { Browser, PASSWORD, TestDashboard } from '../support/test-dashboard';
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
  afterAll(() => {
    for (const stream of streams) stream.close();
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
      .flatMap(({ data }) => (data as { changes: { conversationId: string }[] | null }).changes)
      .map((change) => change && change.conversationId);

  it("tells each tab of messages and changes, by the conversation's id alone", async () => {
    const [first, second] = [await open(), await open()];
    const untilChanged = async (times: number) => {
      for (const stream of [first, second]) await stream.next('changed', times);
    };
    const conversation = await service.make.conversation(workspace);
    await untilChanged(1);
    await service.make.received(workspace, conversation, 'Where is my parcel?');
    await untilChanged(2);
    await service.make.updateConversation(workspace, conversation, { status: 'CLOSED' });
    await untilChanged(3);
    const change = { changes: [{ conversationId: conversation.id, eventId: expect.any(String) }] };
    for (const stream of [first, second])
      expect(stream.listEvents('changed').map(({ data }) => data)).toEqual([change, change, change]);
  });

  it('tells nothing of other workspaces, and nothing that is not about a conversation', async () => {
    const stream = await open();
    const other = await service.make.workspace();
    await service.make.received(other, await service.make.conversation(other));
    await service.make.apiKey(workspace);
    const own = await service.make.conversation(workspace);
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
    await stream.next('changed');
    // The event is there, and no signal told of it.
    await service.query(
      `INSERT INTO events (tenant_id, id, type, data, created_at)
       VALUES ($1, $2, 'message.created', json_build_object('conversationId', $3::text), now())`,
      [workspace.id, conversation.id, conversation.id],
    );
    const notices = dashboard.get(EventNotices);
    for (let round = 0; round < 2; round++) await notices.tellMissed();
    await stream.next('changed', 2);
    await letTimePass(100);
    expect(toldOf(stream)).toEqual([conversation.id, conversation.id]);
  });

  it('tells of a note, and of its deletion, also when the signal was lost', async () => {
    const stream = await open();
    const conversation = await service.make.conversation(workspace);
    await stream.next('changed');
    const notes = dashboard.get(NotesService);
    const author = { type: 'agent' as const, id: lin.id };
    const { id } = await notes.create(workspace.id, conversation.id, { body: 'Ask Ana.' }, author);
    await stream.next('changed', 2);
    await notes.delete(workspace.id, id, author);
    await stream.next('changed', 3);
    expect(toldOf(stream)).toEqual(Array(3).fill(conversation.id));

    const lost = jest.spyOn(dashboard.get(RedisSignals), 'send').mockReturnValue();
    await notes.create(workspace.id, conversation.id, { body: 'And Ben.' }, author);
    lost.mockRestore();
    const notices = dashboard.get(EventNotices);
    for (let round = 0; round < 2; round++) await notices.tellMissed();
    await stream.next('changed', 4);
    await letTimePass(100);
    expect(toldOf(stream)).toEqual(Array(4).fill(conversation.id));
  });

  it('says that everything may have changed, once more was missed than is listed', async () => {
    const stream = await open();
    const { id } = await service.make.conversation(workspace);
    await stream.next('changed');
    await service.query(
      `INSERT INTO events (tenant_id, id, type, data, created_at)
       SELECT $1, (left($2, 24) || lpad(to_hex(i), 12, '0'))::uuid, 'message.created',
         json_build_object('conversationId', $2::text), now() FROM generate_series(1, 300) i`,
      [workspace.id, id],
    );
    await dashboard.get(EventNotices).tellMissed();
    await stream.next('changed', 2);
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
    const notices = stream.listEvents('changed').length;
    expect(notices).toBeLessThan(ids.length);
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

  it('tells of a contact that was edited, also when the signal was lost, and of one that is erased', async () => {
    const stream = await open();
    const conversation = await service.make.conversation(workspace);
    await service.make.received(workspace, conversation, 'I am Ana.');
    await stream.next('changed');
    const contacts = dashboard.get(ContactsService);
    const { contact } = await dashboard.get(ConversationsService).get(workspace.id, conversation.id, SYSTEM);
    const { updatedAt } = await contacts.update(
      workspace.id,
      contact.id,
      { name: 'Ana', updatedAt: contact.updatedAt },
      { type: 'agent', id: lin.id },
    );
    expect((await stream.next('contacts')).data).toEqual({ contactIds: [contact.id] });

    const lost = jest.spyOn(dashboard.get(RedisSignals), 'send').mockReturnValue();
    await contacts.update(workspace.id, contact.id, { name: 'Anna', updatedAt }, SYSTEM);
    lost.mockRestore();
    const notices = dashboard.get(EventNotices);
    for (let round = 0; round < 2; round++) await notices.tellMissed();
    expect((await stream.next('contacts', 2)).data).toEqual({ contactIds: [contact.id] });
    await letTimePass(100);
    expect(stream.listEvents('contacts')).toHaveLength(2);

    const before = toldOf(stream).length;
    await dashboard.get(ContactErasuresService).start(workspace.id, contact.id, SYSTEM);
    await stream.next('contacts', 3);
    const worker = await TestService.create({ role: 'worker', beside: service });
    await waitFor('the erased message', () => toldOf(stream).slice(before).includes(conversation.id), 10_000);
    await worker.close();
    const { body } = await browser.get(
      `/api/workspaces/${workspace.id}/conversations/${conversation.id}/messages`,
    );
    expect(body.data).toMatchObject([{ body: '' }]);
  });

  it("tells of a profile that the workspace's server has changed, and not of one that stays", async () => {
    const stream = await open();
    const conversation = await service.make.conversation(workspace);
    const { contact } = await dashboard.get(ConversationsService).get(workspace.id, conversation.id, SYSTEM);
    await hears(stream);
    const sign = (name: string) =>
      dashboard.get(Database).transaction((tx) =>
        dashboard.get(CustomersService).updateProfile(tx, workspace.id, contact.id, {
          signed: { name },
          claimed: {},
        }),
      );
    await sign('Ana');
    expect((await stream.next('contacts')).data).toEqual({ contactIds: [contact.id] });
    await sign('Ana');
    await letTimePass(500);
    expect(stream.listEvents('contacts')).toHaveLength(1);
  });

  it('tells an agent on each device of what it has read, and nobody else', async () => {
    const device = dashboard.browser;
    const login = { email: lin.email, password: PASSWORD };
    expect(await device.post('/api/login', login)).toMatchObject({ status: 200 });
    const colleague = await dashboard.logIn(await service.make.agent(workspace, { role: 'AGENT' }));
    const [here, there, others] = [await open(), await open(device), await open(colleague)];
    const conversation = await service.make.conversation(workspace);
    const { id: messageId } = await service.make.received(workspace, conversation);
    await hears(others);
    const path = `/api/workspaces/${workspace.id}/conversations/${conversation.id}/read-mark`;
    const mark = async (by: Browser, status = 204) =>
      expect(await by.send('PUT', path, { messageId })).toMatchObject({ status });
    await mark(browser);
    for (const stream of [here, there])
      expect((await stream.next('read')).data).toEqual({ conversationIds: [conversation.id] });
    // The other device shows the message too.
    await mark(device);
    expect(await device.delete(path)).toMatchObject({ status: 204 });
    for (const stream of [here, there])
      expect((await stream.next('unread')).data).toEqual({ conversationIds: [conversation.id] });
    await mark(colleague);
    expect((await others.next('read')).data).toEqual({ conversationIds: [conversation.id] });
    await letTimePass(300);
    expect([here, there, others].map((stream) => stream.listEvents('read').length)).toEqual([1, 1, 1]);
    expect(others.listEvents('unread')).toEqual([]);
  });

  it('tells an agent of what is handed over to it, and nobody else', async () => {
    const colleague = await dashboard.logIn(await service.make.agent(workspace, { role: 'AGENT' }));
    const [own, others] = [await open(), await open(colleague)];
    const conversation = await service.make.conversation(workspace);
    await hears(others);
    const path = `/api/workspaces/${workspace.id}/conversations/${conversation.id}`;
    const assign = async (by: Browser, assignedAgentId: string | null) =>
      expect(await by.patch(path, { assignedAgentId })).toMatchObject({ status: 200 });
    await assign(browser, lin.id);
    await assign(browser, null);
    await letTimePass(300);
    expect(own.listEvents('unread')).toEqual([]);
    for (let time = 1; time <= 2; time++) {
      await assign(colleague, lin.id);
      // It is told of, also where it is unread already.
      expect((await own.next('handed-over', time)).data).toEqual({ conversationIds: [conversation.id] });
      await assign(colleague, null);
    }
    for (const name of ['unread', 'handed-over']) expect(others.listEvents(name)).toEqual([]);
  });

  it('names a bounded number of what is read at once, and then says that it may be any', async () => {
    const stream = await open();
    await hears(stream);
    const changes = dashboard.get(EventlessChanges);
    await dashboard.get(Database).transaction((tx) => {
      for (let n = 0; n < 150; n++)
        changes.note(tx, workspace.id, {
          readMark: { agentId: lin.id, conversationId: `${n}`, isUnread: false },
        });
      return Promise.resolve();
    });
    await waitFor('everything', () => toldOf(stream).filter((id) => id === null).length === 2);
    expect(stream.listEvents('read')).toEqual([]);
  });

  /** Waits until every process knows that the workspace is listened to. */
  const hears = (stream: TestStream) =>
    waitFor('everything that nobody heard', () => toldOf(stream).includes(null), 10_000);

  it('stops to listen with the last tab', async () => {
    const [first, second] = [await open(), await open()];
    const conversation = await service.make.conversation(workspace);
    await second.next('changed');
    first.close();
    await service.make.received(workspace, conversation);
    await second.next('changed', 2);
    second.close();
    await first.ended();
    await second.ended();
    const third = await open();
    await service.make.received(workspace, conversation);
    await third.next('changed');
    expect(toldOf(third)).toEqual([conversation.id]);
  });
});
