import { VisitorStreams } from '../../src/channels/widget/visitor-streams';
import { ChannelConnectionsService } from '../../src/channels/connections/channel-connections.service';
import { newId } from '../../src/common/ids';
import { Actor, SYSTEM } from '../../src/access/principal';
import { Database } from '../../src/database/database';
import { AgentAct } from '../../src/inbox/presence/presence.dto';
import { PresenceService } from '../../src/inbox/presence/presence.service';
import { AgentEntity } from '../../src/workspaces/agent.entity';
import { AgentsService } from '../../src/workspaces/agents.service';
import { createTenant, Tenant } from '../support/routes';
import { TestService } from '../support/service';
import { TestStream } from '../support/test-stream';
import { ORIGIN, TestVisitor, TestWidget } from '../support/widget';
import { letTimePass, waitFor } from '../support/wait';

/** Tests of what visitors and agents see of each other. Visitors and agents have different processes. */
describe('the presence of visitors and agents', () => {
  let service: TestService;
  let second: TestService;
  let tenant: Tenant;
  let widget: TestWidget;
  let ben: AgentEntity;
  const streams: TestStream[] = [];

  beforeAll(async () => {
    service = await TestService.create();
    second = await TestService.create({ beside: service });
  });
  beforeEach(async () => {
    tenant = await createTenant(service);
    widget = await TestWidget.connect(service, tenant.workspace);
    ben = await service.make.agent(tenant.workspace, { role: 'AGENT' });
    await service.app.get(AgentsService).update(tenant.workspace.id, ben.id, { displayName: 'Ben' }, SYSTEM);
  });
  afterEach(() => streams.splice(0).forEach((stream) => stream.close()));

  async function visitorWithMessage(): Promise<{ visitor: TestVisitor; conversationId: string }> {
    const visitor = await widget.visitor(service);
    await visitor.post('m-1', 'Hello?');
    return { visitor, conversationId: (await visitor.open()).body.conversationId as string };
  }
  async function listen(visitor: TestVisitor): Promise<TestStream> {
    const stream = await visitor.stream(service.baseUrl);
    streams.push(stream);
    await stream.next('ready');
    return stream;
  }
  const agents = () => second.app.get(PresenceService, { strict: false });
  const seen = async (conversationId: string, at: Tenant = tenant) =>
    (await agents().list(at.workspace.id, { conversationIds: [conversationId] }, SYSTEM))[0]?.visitor ?? null;
  const shows = (conversationId: string, expected: string | null, timeoutMs?: number) =>
    waitFor(`${expected}`, async () => (await seen(conversationId)) === expected, timeoutMs);
  const type = (visitor: TestVisitor, conversationId: string, isTyping = true) =>
    visitor.send('POST', '/typing', { conversationId, isTyping });
  const act = (conversationId: string, does: AgentAct | 'LEFT', by: Actor = { type: 'agent', id: ben.id }) =>
    agents().signal(tenant.workspace.id, { conversationId, act: does }, by);
  const sendHeartbeats = () => service.app.get(VisitorStreams, { strict: false }).sendHeartbeats();

  it('shows agents that a visitor is online and types, and its end', async () => {
    const { visitor, conversationId } = await visitorWithMessage();
    expect(await seen(conversationId)).toBeNull();
    const stream = await listen(visitor);
    await shows(conversationId, 'ONLINE');
    expect(await type(visitor, conversationId)).toMatchObject({ status: 204 });
    expect(await seen(conversationId)).toBe('TYPING');
    await type(visitor, conversationId, false);
    expect(await seen(conversationId)).toBe('ONLINE');
    await type(visitor, conversationId);
    stream.close();
    // The visitor may go to another page of the shop.
    await shows(conversationId, 'ONLINE');
    await shows(conversationId, null, 8_000);
  });

  it('tells agents of it at once', async () => {
    const { visitor, conversationId } = await visitorWithMessage();
    const noticed: string[] = [];
    const { stop, listening } = agents().listen(tenant.workspace.id, (id) => noticed.push(id));
    await listening;
    await listen(visitor);
    await waitFor('the beginning', () => noticed.length === 1);
    await sendHeartbeats();
    await type(visitor, conversationId);
    await type(visitor, conversationId);
    await waitFor('the typing', () => noticed.length === 2);
    await type(visitor, conversationId, false);
    await waitFor('its end', () => noticed.length === 3);
    expect(new Set(noticed)).toEqual(new Set([conversationId]));
    stop();
  });

  it('begins with the first message of a visitor who is connected', async () => {
    const visitor = await widget.visitor(service);
    await listen(visitor);
    await visitor.post('m-1', 'Hello?');
    const { conversationId } = (await visitor.open()).body as { conversationId: string };
    await shows(conversationId, 'ONLINE');
  });

  it('takes no notice of who is not online there: a conversation can not be made up', async () => {
    const { visitor, conversationId } = await visitorWithMessage();
    await type(visitor, conversationId);
    expect(await seen(conversationId)).toBeNull();
    const other = await visitorWithMessage();
    await listen(other.visitor);
    await listen(visitor);
    await shows(conversationId, 'ONLINE');
    for (const id of [conversationId, newId(), 'nope'])
      expect(await type(other.visitor, id)).toMatchObject({ status: 204 });
    expect(await seen(conversationId)).toBe('ONLINE');
    expect(await widget.page().send('POST', '/typing', { conversationId, isTyping: true })).toMatchObject({
      status: 401,
    });
    const stranger = await createTenant(service);
    expect(await seen(conversationId, stranger)).toBeNull();
  });

  it('costs no statement for a notice, and a flood is refused', async () => {
    const { visitor, conversationId } = await visitorWithMessage();
    await listen(visitor);
    await shows(conversationId, 'ONLINE');
    let acquired = 0;
    const { pool } = service.app.get(Database, { strict: false });
    const count = () => (acquired += 1);
    pool.on('acquire', count);
    const answers = [await type(visitor, conversationId)];
    // A process that Redis has answered late counts for itself for a while, so the limit may come later.
    while (answers.at(-1)!.status === 204 && answers.length < 400)
      answers.push(await type(visitor, conversationId, answers.length % 2 === 0));
    pool.off('acquire', count);
    expect(acquired).toBeLessThan(10);
    expect(answers.length).toBeGreaterThan(60);
    const refused = answers.at(-1)!;
    expect(refused.status).toBe(429);
    expect(refused.headers['access-control-allow-origin']).toBe('*');
  });

  it('tells the visitor of an agent who types a reply, by the display name, and nobody else', async () => {
    const { visitor, conversationId } = await visitorWithMessage();
    const other = await visitorWithMessage();
    const [stream, others] = [await listen(visitor), await listen(other.visitor)];
    await shows(conversationId, 'ONLINE');
    // Notes are for colleagues, and so is looking.
    await act(conversationId, 'LOOKING');
    await act(conversationId, 'NOTING');
    await letTimePass(200);
    expect(stream.listEvents('typing').filter(({ data }) => data.isTyping)).toEqual([]);
    const before = stream.listEvents('typing').length;
    await act(conversationId, 'REPLYING');
    expect((await stream.next('typing', before + 1)).data).toEqual({
      conversationId,
      sequence: 1,
      name: 'Ben',
      isTyping: true,
    });
    await act(conversationId, 'LEFT');
    expect((await stream.next('typing', before + 2)).data).toMatchObject({ name: null, isTyping: false });
    expect(others.listEvents('typing')).toEqual([]);
  });

  it('tells visitors whether an agent has an inbox open', async () => {
    const { visitor } = await visitorWithMessage();
    const stream = await listen(visitor);
    expect(stream.events[0]!.data).toMatchObject({ isOnline: false });
    await agents().keepInboxOpen(tenant.workspace.id);
    await sendHeartbeats();
    expect((await stream.next('heartbeat')).data).toMatchObject({ isOnline: true });
    expect((await listen(visitor)).events[0]!.data).toMatchObject({ isOnline: true });
    const elsewhere = await createTenant(service);
    const stranger = await (await TestWidget.connect(service, elsewhere.workspace)).visitor(service);
    expect((await listen(stranger)).events[0]!.data).toMatchObject({ isOnline: false });
  });

  it('shows nothing either way in a widget that has it off', async () => {
    const { visitor, conversationId } = await visitorWithMessage();
    const credentials = { allowedOrigins: [ORIGIN], keepIdentitySecret: true, showsPresence: false };
    await service.app
      .get(ChannelConnectionsService)
      .rotate(tenant.workspace.id, widget.connection.id, credentials, SYSTEM);
    await agents().keepInboxOpen(tenant.workspace.id);
    const stream = await listen(visitor);
    expect(stream.events[0]!.data).toMatchObject({ isOnline: null });
    await type(visitor, conversationId);
    await act(conversationId, 'REPLYING');
    await letTimePass(300);
    expect(stream.listEvents('typing')).toEqual([]);
    expect(await seen(conversationId)).toBeNull();
  });
});
