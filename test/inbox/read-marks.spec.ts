import { type Actor, SYSTEM } from '../../src/access/principal';
import { newId } from '../../src/common/ids';
import { MessagesService } from '../../src/messages/messages.service';
import { ReadMarksService } from '../../src/inbox/read-marks/read-marks.service';
import { expectRefusal } from '../support/errors';
import { MessagingHost } from '../support/messaging-host';
import { subscribe, Subscription } from '../support/webhook-workspace';

describe('what an agent has not read', () => {
  let host: MessagingHost;
  let own: Subscription;
  let lin: Actor & { id: string };
  let id: string;

  beforeAll(async () => {
    host = await MessagingHost.create();
  });
  beforeEach(async () => {
    own = await subscribe(host, 'https://127.0.0.1:9999/hook');
    lin = await agent();
    id = own.conversation.id;
  });

  const marks = () => host.get(ReadMarksService);
  const agent = async () => {
    const { id: agentId } = await host.make.agent(own.workspace);
    return { type: 'agent' as const, id: agentId };
  };
  const receive = (text = 'Where is my parcel?', conversationId = id) =>
    host.make.received(own.workspace, { id: conversationId }, text);
  const reply = (actor: Actor, body = 'On its way.') =>
    host.get(MessagesService).send(own.id, id, { body }, actor);
  const read = (messageId: string, actor: Actor = lin) => marks().markRead(own.id, id, { messageId }, actor);
  const isUnread = async (actor: Actor = lin) => {
    const [listed, counted] = [
      await marks().listUnread(own.id, [id], actor),
      await marks().getUnread(own.id, actor),
    ];
    // The conversation is nobody's or the actor's: so both say the same.
    expect(counted.latest.map((one) => one.id)).toEqual(listed);
    expect(counted.count).toBe(listed.length);
    return listed.length > 0;
  };

  it('is what the customer has written since it has read or answered', async () => {
    expect(await isUnread()).toBe(false);
    const first = await receive();
    expect(await isUnread()).toBe(true);
    await read(first.id);
    expect(await isUnread()).toBe(false);
    await receive('Hello?');
    expect(await isUnread()).toBe(true);
    await reply(lin);
    expect(await isUnread()).toBe(false);
    await receive('Thanks.');
    expect(await isUnread()).toBe(true);
  });

  it("is each agent's own: what a colleague reads or answers stays unread", async () => {
    const ada = await agent();
    const { id: messageId } = await receive();
    await host.make.updateConversation(own.workspace, { id }, { assignedAgentId: ada.id });
    await read(messageId, ada);
    await reply(ada);
    expect(await isUnread(ada)).toBe(false);
    expect(await marks().listUnread(own.id, [id], lin)).toEqual([id]);
    // It counts for who has it, or if nobody has it.
    expect(await marks().getUnread(own.id, lin)).toEqual({ count: 0, latest: [] });
  });

  it('never comes back by an older mark, and no mark reaches beyond the newest message', async () => {
    const [first, second] = [await receive('One'), await receive('Two')];
    await read(second.id);
    await read(first.id);
    expect(await isUnread()).toBe(false);
    await read(newId());
    await receive('Three');
    expect(await isUnread()).toBe(true);
  });

  it('is also what it marks as unread, until it reads it again', async () => {
    await marks().markUnread(own.id, id, lin);
    expect(await isUnread()).toBe(true);
    const { id: messageId } = await receive();
    await reply(lin);
    await marks().markUnread(own.id, id, lin);
    expect(await isUnread()).toBe(true);
    await read(messageId);
    expect(await isUnread()).toBe(false);
  });

  it('is also a conversation without a message that it has marked, until it reads that', async () => {
    await marks().markUnread(own.id, id, lin);
    expect(await isUnread()).toBe(true);
    await read(newId());
    expect(await isUnread()).toBe(false);
    await receive();
    expect(await isUnread()).toBe(true);
  });

  it('is also what somebody else assigns to it, until it reads that', async () => {
    const ada = await agent();
    const assign = (to: Actor & { id: string }, by: Actor) =>
      host.make.updateConversation(own.workspace, { id }, { assignedAgentId: to.id }, by);
    const { id: messageId } = await receive();
    for (const one of [lin, ada]) await read(messageId, one);
    await assign(lin, lin);
    expect(await isUnread()).toBe(false);
    await assign(ada, lin);
    expect(await isUnread(ada)).toBe(true);
    expect(await marks().listUnread(own.id, [id], lin)).toEqual([]);
    await read(messageId, ada);
    // What is hers already is not handed over.
    await assign(ada, lin);
    expect(await isUnread(ada)).toBe(false);
    await assign(lin, SYSTEM);
    expect(await isUnread()).toBe(true);
  });

  it('is not what it takes by an answer', async () => {
    await receive();
    await reply(lin);
    expect(await isUnread()).toBe(false);
  });

  it('is nothing of a closed conversation', async () => {
    await receive();
    await host.make.updateConversation(own.workspace, { id }, { status: 'CLOSED' });
    expect(await isUnread()).toBe(false);
  });

  it('is looked for among the newest 20 messages', async () => {
    const ada = await agent();
    await receive();
    for (let n = 0; n < 20; n++) await reply(ada, `Part ${n}`);
    expect(await marks().listUnread(own.id, [id], lin)).toEqual([]);
  });

  it('names the latest first, with the contact and the first words', async () => {
    const other = await host.make.conversation(own.workspace);
    const { id: hello } = await receive('Hello?', other.id);
    const { id: parcel } = await receive();
    const unreadOf = (one: typeof own.conversation, messageId: string, preview: string | null) => ({
      id: one.id,
      messageId,
      contactName: one.contact.name,
      preview,
    });
    expect(await marks().getUnread(own.id, lin)).toEqual({
      count: 2,
      latest: [
        unreadOf(own.conversation, parcel, 'Where is my parcel?'),
        unreadOf(other as never, hello, 'Hello?'),
      ],
    });

    const ada = await agent();
    await host.make.updateConversation(own.workspace, other, { assignedAgentId: lin.id });
    await host.get(MessagesService).send(own.id, other.id, { body: 'Yes.' }, ada);
    const { latest } = await marks().getUnread(own.id, lin);
    expect(latest.find((one) => one.id === other.id)).toMatchObject({ messageId: hello, preview: null });
  });

  it('is counted up to 100', async () => {
    await host.query(
      `WITH made AS (
         INSERT INTO conversations (tenant_id, id, contact_id, source_channel, status, last_message_id, created_at, updated_at)
         SELECT tenant_id, gen_random_uuid(), contact_id, source_channel, 'OPEN', gen_random_uuid(), now(), now()
         FROM conversations, generate_series(1, 120) WHERE tenant_id = $1 AND id = $2
         RETURNING tenant_id, id, last_message_id
       )
       INSERT INTO messages (tenant_id, conversation_id, id, sender_type, body, created_at)
       SELECT tenant_id, id, last_message_id, 'CUSTOMER', 'Hello?', now() FROM made`,
      [own.id, id],
    );
    const { count, latest } = await marks().getUnread(own.id, lin);
    expect([count, latest.length]).toEqual([100, 5]);
  });

  it('is of its own workspace alone', async () => {
    const other = await subscribe(host, 'https://127.0.0.1:9999/hook');
    const { id: messageId } = await receive();
    await expectRefusal(
      marks().markRead(other.id, id, { messageId }, { type: 'agent', id: other.agent.id }),
      'NOT_FOUND',
    );
    expect(await marks().listUnread(other.id, [id], { type: 'agent', id: other.agent.id })).toEqual([]);
    await expectRefusal(read('nope'), 'INVALID_BODY');
  });
});
