import { AuditService } from '../../src/audit/audit.service';
import { newId } from '../../src/common/ids';
import { Actor, SYSTEM } from '../../src/access/principal';
import { ConversationsService } from '../../src/conversations/conversations.service';
import { expectRefusal } from '../support/errors';
import { MessagingHost } from '../support/messaging-host';
import { subscribe, Subscription } from '../support/webhook-workspace';

describe('the changes of a conversation', () => {
  let host: MessagingHost;
  let own: Subscription;
  let reader: Actor;

  beforeAll(async () => {
    host = await MessagingHost.create();
    own = await subscribe(host, 'https://127.0.0.1:9999/hook');
    reader = { type: 'agent', id: (await host.make.agent(own.workspace, { role: 'AGENT' })).id };
  });

  const list = (query: { limit?: number; cursor?: string }, id = own.conversation.id, actor = reader) =>
    host.get(ConversationsService).listChanges(own.id, id, query, actor);

  it('are told to an AGENT, newest first, with who made them, and from no place', async () => {
    const { workspace, conversation, agent } = own;
    const manager: Actor = { type: 'agent', id: agent.id, origin: { address: '203.0.113.7' } };
    await host.make.updateConversation(workspace, conversation, { assignedAgentId: agent.id }, manager);
    const lin: Actor = { type: 'operator', name: 'lin' };
    await host.make.updateConversation(workspace, conversation, { status: 'SNOOZED' }, lin);
    await own.message('Hello?');
    // Other entries about the conversation, and changes of another one, are not among them.
    const subject = { tenantId: own.id, entity: 'conversation', entityId: conversation.id, actor: SYSTEM };
    await host.get(AuditService).record({ ...subject, action: 'conversation.rated', metadata: { stars: 5 } });
    const other = await host.make.conversation(workspace);
    await host.make.updateConversation(workspace, other, { status: 'CLOSED' });

    const nobody = { actorId: null, actorName: null };
    const change = { id: expect.any(String), createdAt: expect.any(Date) };
    const changes = [
      {
        ...change,
        ...nobody,
        action: 'conversation.reopened',
        actorType: 'system',
        before: { status: 'SNOOZED' },
        after: { status: 'OPEN' },
      },
      {
        ...change,
        ...nobody,
        action: 'conversation.snoozed',
        actorType: 'operator',
        actorName: 'lin',
        before: { status: 'OPEN' },
        after: { status: 'SNOOZED' },
      },
      {
        ...change,
        action: 'conversation.assigned',
        actorType: 'agent',
        actorId: agent.id,
        actorName: null,
        before: { assignedAgentId: null },
        after: { assignedAgentId: agent.id },
      },
    ];
    expect(await list({})).toEqual({ data: changes, nextCursor: null });

    const first = await list({ limit: 2 });
    const rest = await list({ limit: 2, cursor: first.nextCursor! });
    expect([...first.data, ...rest.data]).toEqual(changes);
    expect(rest.nextCursor).toBeNull();
  });

  it('are none of a conversation that is new', async () => {
    const { id } = await host.make.conversation(own.workspace);
    expect(await list({}, id)).toEqual({ data: [], nextCursor: null });
  });

  it('are not found of a conversation of another workspace, or of none', async () => {
    const { conversation } = await subscribe(host, 'https://127.0.0.1:9999/hook');
    for (const id of [conversation.id, own.endpoint.id, newId(), 'nope'])
      await expectRefusal(list({}, id, SYSTEM), 'NOT_FOUND');
  });
});
