import { randomUUID } from 'node:crypto';
import { Actor, SYSTEM } from '../../src/access/principal';
import { ConversationsService } from '../../src/conversations/conversations.service';
import { MessagesService } from '../../src/messages/messages.service';
import { ContactExportService } from '../../src/privacy/contact-export.service';
import { AgentsService } from '../../src/workspaces/agents.service';
import { expectRefusal } from '../support/errors';
import { MessagingHost } from '../support/messaging-host';
import { subscribe, Subscription } from '../support/webhook-workspace';

describe('the replies of agents', () => {
  let host: MessagingHost;
  let own: Subscription;

  beforeAll(async () => {
    host = await MessagingHost.create();
    own = await subscribe(host, 'https://127.0.0.1:9999/hook');
  });

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
      `SELECT type, data FROM events
       WHERE tenant_id = $1 AND data->>'conversationId' = $2 AND sequence IS NOT NULL ORDER BY sequence`,
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

  describe('that name the newest message which the agent knew', () => {
    const reply = (actor: Actor, { id }: { id: string }, seenMessageId?: string | null) =>
      host.get(MessagesService).send(own.id, id, { body: 'On its way.', seenMessageId }, actor);
    const asked = { code: 'CONFLICT', reason: { reason: 'colleague_replied' } };

    it('are refused after an answer of somebody else, until the agent knows it', async () => {
      const [lin, mia] = [await agent(), await agent()];
      const conversation = await host.make.conversation(own.workspace);
      const { id: question } = await host.make.received(own.workspace, conversation, 'Where is it?');
      const answer = await send(mia, conversation);
      await expect(reply(lin, conversation, question)).rejects.toMatchObject(asked);
      await expect(reply(lin, conversation, null)).rejects.toMatchObject(asked);
      expect(await reply(lin, conversation, answer.message.id)).toMatchObject({ message: {} });
      // Without one nothing is asked.
      expect(await reply(mia, conversation)).toMatchObject({ message: {} });
    });

    it('are refused after an answer by an API key', async () => {
      const lin = await agent();
      const conversation = await host.make.conversation(own.workspace);
      const { id: question } = await host.make.received(own.workspace, conversation, 'Where is it?');
      const key: Actor = { type: 'api_key', id: (await host.make.apiKey(own.workspace)).id };
      await send(key, conversation);
      await expect(reply(lin, conversation, question)).rejects.toMatchObject(asked);
    });

    it("are not refused after the customer's or the agent's own messages, nor those of an API key at all", async () => {
      const [lin, mia] = [await agent(), await agent()];
      const conversation = await host.make.conversation(own.workspace);
      await host.make.received(own.workspace, conversation, 'Where is it?');
      await send(lin, conversation);
      await host.make.received(own.workspace, conversation, 'Hello?');
      expect(await reply(lin, conversation, null)).toMatchObject({ message: {} });
      const key: Actor = { type: 'api_key', id: (await host.make.apiKey(own.workspace)).id };
      await send(mia, conversation);
      expect(await reply(key, conversation, null)).toMatchObject({ message: {} });
    });

    it('send one of two at the same moment, and refuse the other', async () => {
      const agents = [await agent(), await agent()];
      for (let round = 0; round < 10; round++) {
        const conversation = await host.make.conversation(own.workspace);
        const { id: question } = await host.make.received(own.workspace, conversation, 'Where is it?');
        const outcomes = await Promise.allSettled(agents.map((one) => reply(one, conversation, question)));
        expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
        expect(outcomes.find(({ status }) => status === 'rejected')).toMatchObject({ reason: asked });
      }
    });

    it('must be ids', async () => {
      const conversation = await host.make.conversation(own.workspace);
      await expectRefusal(reply(await agent(), conversation, 'nope'), 'INVALID_BODY');
    });
  });

  it('name the message that they repeat, which is lost and of the same conversation', async () => {
    const lin = await agent();
    const [conversation, another] = [
      await host.make.conversation(own.workspace),
      await host.make.conversation(own.workspace),
    ];
    const messages = host.get(MessagesService);
    const repeat = (repeatsId: string, { id }: { id: string } = conversation) =>
      messages.send(own.id, id, { body: 'On its way.', repeatsId }, lin);
    const { message: first } = await send(lin, conversation);
    await expectRefusal(repeat(first.id), 'INVALID_BODY');
    let last = first;
    for (const status of ['FAILED', 'UNKNOWN']) {
      await host.query(
        'UPDATE messages SET delivery_status = $4 WHERE tenant_id = $1 AND conversation_id = $2 AND id = $3',
        [own.id, conversation.id, last.id, status],
      );
      await expectRefusal(repeat(last.id, another), 'INVALID_BODY');
      const { message } = await repeat(last.id);
      expect(message).not.toHaveProperty('repeatsId');
      const { data } = await messages.listPart(own.id, conversation.id, { limit: 1 }, lin);
      expect(data).toMatchObject([{ id: message.id, repeatsId: last.id }]);
      // The customer would read it once more.
      await expectRefusal(repeat(last.id), 'INVALID_BODY');
      last = message;
    }
    for (const id of ['x', randomUUID()]) await expectRefusal(repeat(id), 'INVALID_BODY');

    const { data } = await messages.listPart(own.id, conversation.id, { around: first.id }, lin);
    expect(data.map(({ repeatsId }) => repeatsId)).toEqual([data[1]!.id, first.id, null]);
    // Others see the messages as they were.
    const keys = [
      ...['id', 'senderType', 'senderAgentId', 'body', 'isDescribed', 'attachments', 'createdAt', 'delivery'],
      ...['editedAt', 'unsentAt', 'reactions'],
    ];
    for (const one of (await messages.list(own.id, conversation.id, {}, lin)).data)
      expect(Object.keys(one)).toEqual(keys);
    const { contact } = await read(conversation);
    const kept = ['firstBody', 'replacedBodies', 'metadata'];
    for await (const line of host.get(ContactExportService).export(own.id, contact.id, SYSTEM))
      if (line.type === 'message')
        expect(Object.keys(line)).toEqual(['type', 'conversationId', ...keys, ...kept]);
  });
});
