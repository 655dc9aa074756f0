import { randomUUID } from 'node:crypto';
import { Actor, SYSTEM } from '../../../src/common/principal';
import { ConversationsService } from '../../../src/conversations/conversations.service';
import { MessagesService } from '../../../src/messages/messages.service';
import { AgentsService } from '../../../src/workspaces/agents.service';
import { expectRefusal } from '../../support/errors';
import { MessagingHost } from '../../support/messaging-host';
import { subscribe, Subscription } from '../../support/webhook-workspace';

describe('the replies of agents', () => {
  let host: MessagingHost;
  let own: Subscription;

  beforeAll(async () => {
    host = await MessagingHost.create();
    own = await subscribe(host, 'https://127.0.0.1:9999/hook');
  });
  afterAll(() => host.close());

  const agent = async (role: 'AGENT' | 'ADMIN' = 'AGENT'): Promise<Actor & { id: string }> => {
    const { id } = await host.make.agent(own.workspace, { role });
    return { type: 'agent', id };
  };
  const send = (actor: Actor, conversation: { id: string }, senderAgentId?: string) =>
    host
      .get(MessagesService)
      .send(own.id, conversation.id, { body: 'On its way.', ...(senderAgentId && { senderAgentId }) }, actor);
  const read = ({ id }: { id: string }) => host.get(ConversationsService).get(own.id, id, SYSTEM);

  it('are their own, with and without their name', async () => {
    const [lin, other] = [await agent(), await agent('ADMIN')];
    const conversation = await host.make.conversation(own.workspace);
    for (const sender of [undefined, lin.id]) {
      const { message } = await send(lin, conversation, sender);
      expect(message).toMatchObject({ senderType: 'AGENT', senderAgentId: lin.id, body: 'On its way.' });
    }
    await expectRefusal(send(lin, conversation, other.id), 'FORBIDDEN');
    await expectRefusal(send(other, conversation, lin.id), 'FORBIDDEN');
  });

  it("assign a conversation that is nobody's, with event and audit entry, and no other", async () => {
    const [lin, mia] = [await agent(), await agent()];
    const conversation = await host.make.conversation(own.workspace);
    await send(lin, conversation);
    expect(await read(conversation)).toMatchObject({ assignedAgentId: lin.id });
    await send(mia, conversation);
    expect(await read(conversation)).toMatchObject({ assignedAgentId: lin.id });

    const { data } = await host.get(ConversationsService).listChanges(own.id, conversation.id, {}, lin);
    expect(data).toMatchObject([
      { action: 'conversation.assigned', actorId: lin.id, after: { assignedAgentId: lin.id } },
    ]);
    const events = await host.query<{ type: string; data: object }>(
      `SELECT type, data FROM events WHERE tenant_id = $1 AND data->>'conversationId' = $2 ORDER BY sequence`,
      [own.id, conversation.id],
    );
    expect(events.map(({ type }) => type)).toEqual([
      'message.created',
      'conversation.updated',
      'message.created',
    ]);
    expect(events[1]!.data).toEqual({ conversationId: conversation.id, assignedAgentId: lin.id });
  });

  it('of code and operators leave the assignment alone', async () => {
    const lin = await agent();
    const conversation = await host.make.conversation(own.workspace);
    await send(SYSTEM, conversation, lin.id);
    await send({ type: 'operator', name: 'lin' }, conversation, lin.id);
    expect(await read(conversation)).toMatchObject({ assignedAgentId: null });
  });

  it("of an agent that is inactive, unknown or another workspace's are refused, and change nothing", async () => {
    const gone = await agent();
    await host.get(AgentsService).update(own.id, gone.id, { active: false }, SYSTEM);
    const elsewhere = await host.make.agent(await host.make.workspace());
    const conversation = await host.make.conversation(own.workspace);
    for (const id of [gone.id, elsewhere.id, randomUUID()])
      await expectRefusal(send({ type: 'agent', id }, conversation), 'INVALID_BODY');
    expect(await read(conversation)).toMatchObject({ assignedAgentId: null, lastMessageAt: null });
  });
});
