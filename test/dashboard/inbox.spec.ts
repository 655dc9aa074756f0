import { randomUUID } from 'node:crypto';
import { SYSTEM } from '../../src/access/principal';
import { WorkspacesService } from '../../src/workspaces/workspaces.service';
import { WorkspaceEntity } from '../../src/workspaces/workspace.entity';
import { AgentEntity } from '../../src/workspaces/agent.entity';
import { errorBody } from '../support/errors';
import { TestService } from '../support/service';
import { Browser, TestDashboard } from '../support/test-dashboard';

/** Tests of the inbox's routes, called as its page calls them. */
describe("the dashboard's inbox", () => {
  let service: TestService;
  let dashboard: TestDashboard;
  let workspace: WorkspaceEntity;
  let lin: AgentEntity;
  let browser: Browser;

  beforeAll(async () => {
    service = await TestService.create();
    dashboard = await TestDashboard.create(service.stores);
  });
  beforeEach(async () => {
    workspace = await service.make.workspace();
    lin = await service.make.agent(workspace, { role: 'AGENT', name: 'Lin' });
    browser = await dashboard.logIn(lin);
  });

  const at = (path: string) => `/api/workspaces/${workspace.id}/conversations${path}`;
  const get = async (path: string) => (await browser.get(at(path))).body;
  const conversation = async (text?: string) => {
    const made = await service.make.conversation(workspace);
    if (text) await service.make.received(workspace, made, text);
    return made;
  };

  it('lists the open conversations of each view, and counts them', async () => {
    const [waiting, mine] = [await conversation('Where is my parcel?'), await conversation('Hello?')];
    expect((await browser.patch(at(`/${mine.id}`), { assignedAgentId: lin.id })).status).toBe(200);

    expect(await get('?status=OPEN')).toEqual({
      data: [
        expect.objectContaining({ id: mine.id, assignedAgentId: lin.id, lastMessagePreview: 'Hello?' }),
        expect.objectContaining({
          id: waiting.id,
          contact: { id: waiting.contact.id, name: waiting.contact.name },
          lastMessageId: expect.any(String),
        }),
      ],
      nextCursor: null,
    });
    for (const [assignee, id] of [
      [lin.id, mine.id],
      ['nobody', waiting.id],
    ])
      expect(await get(`?status=OPEN&assignedAgentId=${assignee}`)).toMatchObject({ data: [{ id }] });
    expect(await get('/counts')).toEqual({ mine: 1, nobody: 1, all: 2, waiting: 2, lost: 0 });
  });

  it('answers as the person who is logged in, once however often the page sends it', async () => {
    const { id } = await conversation('Where is my parcel?');
    const key = { 'idempotency-key': randomUUID() };
    const send = () => browser.post(at(`/${id}/messages`), { body: 'On its way.' }, key);
    const [first, second] = [await send(), await send()];
    expect(first).toMatchObject({
      status: 201,
      body: { message: { senderAgentId: lin.id, delivery: { status: 'QUEUED', error: null } } },
    });
    expect(second.body).toEqual(first.body);
    expect(second.headers['idempotency-replayed']).toBe('true');

    const { data } = await get(`/${id}/messages`);
    expect(data.map(({ body }: { body: string }) => body)).toEqual(['On its way.', 'Where is my parcel?']);
    expect(await get(`/${id}`)).toMatchObject({ assignedAgentId: lin.id, status: 'OPEN' });
    expect((await get(`/${id}/changes`)).data).toMatchObject([
      { action: 'conversation.assigned', actorId: lin.id },
    ]);
  });

  it("writes in nobody else's name", async () => {
    const { id } = await conversation();
    const other = await service.make.agent(workspace);
    const { status, body } = await browser.post(at(`/${id}/messages`), {
      body: 'On its way.',
      senderAgentId: other.id,
    });
    expect([status, body.error]).toMatchObject([403, { code: 'FORBIDDEN', reason: 'only_as_itself' }]);
    expect((await get(`/${id}/messages`)).data).toEqual([]);
  });

  it.each([
    [
      'whose trial has ended',
      () => ({ planTier: 'TRIAL' as const, trialEndsAt: new Date(Date.now() - 1_000) }),
      402,
      errorBody('TRIAL_EXPIRED', 'The trial has ended: nothing can change until the workspace is upgraded.'),
    ],
    ['that is suspended', null, 403, errorBody('WORKSPACE_SUSPENDED', 'The workspace is suspended.')],
  ])('of a workspace %s is read only', async (_, change, status, error) => {
    const { id } = await conversation('Where is my parcel?');
    const workspaces = service.app.get(WorkspacesService);
    if (change) await workspaces.update(workspace.id, change(), SYSTEM);
    else await workspaces.suspend(workspace.id, SYSTEM);

    expect(await browser.post(at(`/${id}/messages`), { body: 'On its way.' })).toMatchObject({
      status,
      body: error,
    });
    expect(await browser.patch(at(`/${id}`), { status: 'CLOSED' })).toMatchObject({ status, body: error });
    expect((await browser.send('HEAD', at(`/${id}`))).status).toBe(200);
    expect(await get('?status=OPEN')).toMatchObject({ data: [{ id }] });
    expect(await get(`/${id}/messages`)).toMatchObject({ data: [{ body: 'Where is my parcel?' }] });
  });
});
