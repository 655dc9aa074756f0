import { newId } from '../../src/common/ids';
import { Actor, SYSTEM } from '../../src/access/principal';
import { DraftsService } from '../../src/inbox/drafts/drafts.service';
import { MessagesService } from '../../src/messages/messages.service';
import { AgentErasuresService } from '../../src/logins/agent-erasures.service';
import { MessageRetentionService } from '../../src/privacy/message-retention.service';
import { RetentionService } from '../../src/operations/retention/retention.service';
import { AgentsService } from '../../src/workspaces/agents.service';
import { WorkspaceEntity } from '../../src/workspaces/workspace.entity';
import { WorkspacesService } from '../../src/workspaces/workspaces.service';
import { expectRefusal } from '../support/errors';
import { MessagingHost } from '../support/messaging-host';
import { TestService } from '../support/service';
import { makeOldConversation } from '../support/stored-messages';

type Agent = Actor & { id: string };

const NONE = { body: '', updatedAt: null };

describe('drafts', () => {
  let host: MessagingHost;
  let workspace: WorkspaceEntity;
  let drafts: DraftsService;
  let lin: Agent;
  let conversation: { id: string };

  beforeAll(async () => {
    host = await MessagingHost.create();
    drafts = host.get(DraftsService);
  });
  beforeEach(async () => {
    workspace = await host.make.workspace();
    lin = await agent();
    conversation = await host.make.conversation(workspace);
  });

  const agent = async (of: { id: string } = workspace): Promise<Agent> => ({
    type: 'agent',
    id: (await host.make.agent(of, { role: 'AGENT' })).id,
  });
  const save = (body: string, actor: Actor = lin, { id } = conversation) =>
    drafts.save(workspace.id, id, { body }, actor);
  const get = (actor: Actor = lin, { id } = conversation) => drafts.get(workspace.id, id, actor);

  it('are one for each agent and conversation, and nobody else’s', async () => {
    expect(await get()).toEqual(NONE);
    const saved = await save('Dear Ada,\n');
    expect(saved).toEqual({ body: 'Dear Ada,\n', updatedAt: expect.any(Date) });
    expect(await get()).toEqual(saved);
    const later = await save('Dear Ada, it is on its way.');
    expect(await get()).toEqual(later);
    const mia = await agent();
    expect(await get(mia)).toEqual(NONE);
    expect(await drafts.list(workspace.id, mia)).toEqual([]);
    expect(await drafts.list(workspace.id, lin)).toEqual([
      { conversationId: conversation.id, updatedAt: later.updatedAt },
    ]);
    expect(await save(' \n')).toEqual(NONE);
    expect(await drafts.list(workspace.id, lin)).toEqual([]);
  });

  it('of the device that wrote last stay, by its clock, unless the other knew of them', async () => {
    const before = await save('First');
    const stale = { editedAt: new Date(before.updatedAt!.getTime() - 60_000), basedOn: null };
    const late = (body: string, change: object) =>
      drafts.save(workspace.id, conversation.id, { body, ...change }, lin);
    expect(await late('Written before', stale)).toEqual(before);
    expect(await late('', stale)).toEqual(before);
    // This device's clock is behind.
    const known = await late('Goes on', { ...stale, basedOn: before.updatedAt });
    expect(known.body).toBe('Goes on');
    const ahead = new Date(known.updatedAt!.getTime() + 60_000);
    expect(await late('Later', { editedAt: ahead, basedOn: null })).toMatchObject({ body: 'Later' });
  });

  it('leave no event and no audit entry', async () => {
    const count = () =>
      host.query(
        `SELECT (SELECT count(*) FROM events WHERE tenant_id = $1) AS events,
                (SELECT count(*) FROM audit_entries WHERE tenant_id = $1) AS entries`,
        [workspace.id],
      );
    const before = await count();
    await save('Dear');
    await save('');
    expect(await count()).toEqual(before);
  });

  it('are of agents alone, in conversations of their workspace, up to 10,000 characters', async () => {
    await save('é'.repeat(10_000));
    for (const body of ['é'.repeat(10_001), 'NUL \0']) await expectRefusal(save(body), 'INVALID_BODY');
    await expectRefusal(save('Dear', SYSTEM), 'INVALID_BODY');
    const { id } = await host.make.apiKey(workspace);
    await expectRefusal(save('Dear', { type: 'api_key', id }), 'FORBIDDEN');
    const elsewhere = await host.make.workspace();
    const stranger = await agent(elsewhere);
    await expectRefusal(drafts.save(elsewhere.id, conversation.id, { body: 'Dear' }, stranger), 'NOT_FOUND');
    await expectRefusal(save('Dear', stranger), 'INVALID_BODY');
    for (const missing of [newId(), 'nope'])
      await expectRefusal(save('Dear', lin, { id: missing }), 'NOT_FOUND');
  });

  it('go once they are sent, but not with another message', async () => {
    const send = (body: string, change: object = {}) =>
      host.get(MessagesService).send(workspace.id, conversation.id, { body, ...change }, lin);
    await save('Dear Ada, ');
    await send('On its way.');
    expect(await get()).toMatchObject({ body: 'Dear Ada, ' });
    // A message that is refused leaves its draft.
    await expectRefusal(send('Dear Ada, it is here.', { repeatsId: newId() }), 'INVALID_BODY');
    expect(await get()).toMatchObject({ body: 'Dear Ada, ' });
    // The last words were not saved before it was sent.
    await send('Dear Ada, it is on its way.');
    expect(await get()).toEqual(NONE);
    const mia = await agent();
    await save('Dear Ada', mia);
    await send('Dear Ada, it is here.');
    expect(await get(mia)).toMatchObject({ body: 'Dear Ada' });
  });

  it('stay, and nothing is sent, if they cannot be deleted', async () => {
    await save('Dear Ada');
    await host.query(
      `CREATE FUNCTION refuse_draft() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'refused'; END $$`,
    );
    await host.query(
      `CREATE TRIGGER refuse_draft BEFORE DELETE ON drafts FOR EACH ROW EXECUTE FUNCTION refuse_draft()`,
    );
    const sent = host.get(MessagesService).send(workspace.id, conversation.id, { body: 'Dear Ada' }, lin);
    await expect(sent).rejects.toThrow('refused');
    await host.query('DROP FUNCTION refuse_draft CASCADE');
    expect(await get()).toMatchObject({ body: 'Dear Ada' });
    expect(await host.query('SELECT FROM messages WHERE tenant_id = $1', [workspace.id])).toEqual([]);
  });

  it('are 200 for each agent at most: the oldest gives way', async () => {
    const [first] = await host.query<{ id: string }>(
      `INSERT INTO conversations (tenant_id, id, contact_id, source_channel, status, created_at, updated_at)
       SELECT tenant_id, gen_random_uuid(), contact_id, source_channel, status, now(), now()
       FROM conversations, generate_series(1, 201) WHERE tenant_id = $1 RETURNING id`,
      [workspace.id],
    );
    await host.query(
      `INSERT INTO drafts (tenant_id, agent_id, conversation_id, body, updated_at)
       SELECT tenant_id, $2, id, 'Dear', now() - CASE WHEN id = $3 THEN interval '1 day' ELSE '1 hour' END
       FROM conversations WHERE tenant_id = $1 AND id <> $4 ORDER BY id = $3 DESC LIMIT 200`,
      [workspace.id, lin.id, first!.id, conversation.id],
    );
    await save('The newest');
    const kept = (await drafts.list(workspace.id, lin)).map(({ conversationId }) => conversationId);
    expect(kept).toHaveLength(200);
    expect(kept[0]).toBe(conversation.id);
    expect(kept).not.toContain(first!.id);
  });

  it('go with the agent who is erased', async () => {
    const mia = await agent();
    await save('Dear', mia);
    await save('Mine');
    await host.get(AgentsService).update(workspace.id, mia.id, { active: false }, SYSTEM);
    await host.get(AgentErasuresService).erase(workspace.id, mia.id, SYSTEM);
    const left = await host.query('SELECT agent_id FROM drafts WHERE tenant_id = $1', [workspace.id]);
    expect(left).toEqual([{ agent_id: lin.id }]);
  });

  it('go with the messages of their age, and after 30 days without a change', async () => {
    const old = await makeOldConversation(host, workspace, [40, 1]);
    const mia = await agent();
    const age = (by: Agent, days: number) =>
      host.query(
        'UPDATE drafts SET updated_at = now() - make_interval(days => $3) WHERE tenant_id = $1 AND agent_id = $2',
        [workspace.id, by.id, days],
      );
    await save('Old', lin, old);
    await save('Young', mia, old);
    await age(lin, 45);
    await host.get(WorkspacesService).update(workspace.id, { messageRetentionDays: 30 }, SYSTEM);
    await host.get(MessageRetentionService).clean();
    expect(await get(lin, old)).toEqual(NONE);
    expect(await get(mia, old)).toMatchObject({ body: 'Young' });

    await save('Fresh', lin, old);
    await age(mia, 31);
    const worker = await TestService.create({ role: 'worker', beside: host });
    try {
      await worker.app.get(RetentionService).clean();
    } finally {
      await worker.close();
    }
    expect(await get(mia, old)).toEqual(NONE);
    expect(await get(lin, old)).toMatchObject({ body: 'Fresh' });
  });
});
