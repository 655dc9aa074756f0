import { SYSTEM } from '../../src/access/principal';
import { idTime } from '../../src/common/ids';
import { NOBODY } from '../../src/conversations/conversation.dto';
import { ConversationsService } from '../../src/conversations/conversations.service';
import { MessagesService } from '../../src/messages/messages.service';
import { expectRefusal } from '../support/errors';
import { MessagingHost } from '../support/messaging-host';
import { subscribe, Subscription } from '../support/webhook-workspace';

type Query = Parameters<ConversationsService['listActive']>[1];

describe('the conversations by latest activity', () => {
  let host: MessagingHost;
  let own: Subscription;

  beforeAll(async () => {
    host = await MessagingHost.create();
  });
  beforeEach(async () => {
    own = await subscribe(host, 'https://127.0.0.1:9999/hook');
    // The one that comes with the workspace stands in no list of these tests.
    await host.make.updateConversation(own.workspace, own.conversation, { status: 'CLOSED' });
  });

  const list = (query: Query = {}) =>
    host.get(ConversationsService).listActive(own.id, { status: 'OPEN', ...query }, SYSTEM);
  const idsOf = async (query: Query = {}) => (await list(query)).data.map(({ id }) => id);
  const make = async (channel: 'WIDGET' | 'TELEGRAM' = 'WIDGET') =>
    (await host.make.conversation(own.workspace, { channel })).id;

  it('begin with the newest message, and a new conversation is as new as itself', async () => {
    const [first, second] = [await make(), await make()];
    expect(await idsOf()).toEqual([second, first]);
    const message = await host.make.received(own.workspace, { id: first }, 'Where is my parcel?');
    const third = await make();
    expect(await idsOf()).toEqual([third, first, second]);

    const { data } = await list();
    expect(data[1]).toEqual({
      id: first,
      sourceChannel: 'WIDGET',
      status: 'OPEN',
      snoozedUntil: null,
      assignedAgentId: null,
      lastMessagePreview: 'Where is my parcel?',
      lastMessageAt: message.createdAt,
      waitingSince: idTime(message.id),
      waitingMessageId: message.id,
      createdAt: expect.any(Date),
      lastMessageId: message.id,
      lastSenderAgentId: null,
      lost: null,
      contact: { id: expect.any(String), name: expect.any(String) },
    });
    const { id: senderAgentId } = await host.make.agent(own.workspace);
    await host.get(MessagesService).send(own.id, first, { body: 'On its way.', senderAgentId }, SYSTEM);
    expect((await list()).data[0]).toMatchObject({ id: first, lastSenderAgentId: senderAgentId });
  });

  it('are those of an agent, of nobody, or all, with one status, and are counted', async () => {
    const { id: agent } = await host.make.agent(own.workspace);
    const [mine, closed, free] = [await make(), await make(), await make()];
    for (const id of [mine, closed])
      await host.make.updateConversation(own.workspace, { id }, { assignedAgentId: agent });
    await host.make.updateConversation(own.workspace, { id: closed }, { status: 'CLOSED' });

    const views: [Query, string[]][] = [
      [{}, [free, mine]],
      [{ assignedAgentId: agent }, [mine]],
      [{ assignedAgentId: agent, status: 'CLOSED' }, [closed]],
      [{ assignedAgentId: NOBODY }, [free]],
      [{ assignedAgentId: own.agent.id }, []],
      [{ assignedAgentId: 'nope' }, []],
    ];
    for (const [query, ids] of views) {
      expect([query, await idsOf(query)]).toEqual([query, ids]);
      const { assignedAgentId, status = 'OPEN' } = query;
      const count = host.get(ConversationsService).count(own.id, { status, assignedAgentId }, SYSTEM);
      expect([query, await count]).toEqual([query, ids.length]);
    }
  });

  it('come in pages, of which none repeats a row while nothing moves', async () => {
    const made = [];
    for (let n = 0; n < 5; n++) made.unshift(await make());
    const read: string[] = [];
    let cursor: string | null | undefined;
    do {
      const page = await list({ limit: 2, ...(cursor && { cursor }) });
      read.push(...page.data.map(({ id }) => id));
      cursor = page.nextCursor;
    } while (cursor);
    expect(read).toEqual(made);
  });

  it('of a rare channel are looked for among a thousand at a time', async () => {
    const telegram = await make('TELEGRAM');
    const [{ contact_id }] = (await host.query('SELECT contact_id FROM conversations WHERE id = $1', [
      telegram,
    ])) as [{ contact_id: string }];
    await host.query(
      `INSERT INTO conversations (tenant_id, id, contact_id, source_channel, status, created_at, updated_at)
       SELECT $1, (left($3, 24) || lpad(to_hex(i), 12, '0'))::uuid, $2, 'WIDGET', 'OPEN', now(), now()
       FROM generate_series(1, 1500) i`,
      [own.id, contact_id, 'ffffffff-0000-7000-8000-'],
    );
    const first = await list({ channel: 'TELEGRAM' });
    expect(first).toEqual({ data: [], nextCursor: expect.any(String) });
    const second = await list({ channel: 'TELEGRAM', cursor: first.nextCursor! });
    expect(second).toEqual({ data: [expect.objectContaining({ id: telegram })], nextCursor: null });
  });

  it('are those with some ids, if the list has them', async () => {
    const { id: agent } = await host.make.agent(own.workspace);
    const [mine, closed, free, telegram] = [await make(), await make(), await make(), await make('TELEGRAM')];
    await host.make.updateConversation(own.workspace, { id: mine }, { assignedAgentId: agent });
    await host.make.updateConversation(own.workspace, { id: closed }, { status: 'CLOSED' });
    const other = await host.make.workspace();
    const foreign = await host.make.conversation(other);
    const ids = [mine, closed, free, telegram, foreign.id, 'nope'];

    expect(await idsOf({ ids })).toEqual([telegram, free, mine]);
    expect(await idsOf({ ids, assignedAgentId: agent })).toEqual([mine]);
    expect(await idsOf({ ids, assignedAgentId: NOBODY })).toEqual([telegram, free]);
    expect(await idsOf({ ids, status: 'CLOSED' })).toEqual([closed]);
    expect(await list({ ids: [mine, telegram], channel: 'TELEGRAM' })).toEqual({
      data: [expect.objectContaining({ id: telegram })],
      nextCursor: null,
    });
    expect(await idsOf({ ids: [free] })).toEqual([free]);
    expect(await idsOf({ ids: [] })).toEqual([]);
    await expectRefusal(list({ ids: Array.from({ length: 101 }, () => mine) }), 'INVALID_QUERY');
  });

  it('are none of another workspace, and need a status that exists', async () => {
    await make();
    const other = await host.make.workspace();
    const others = await host.get(ConversationsService).listActive(other.id, { status: 'OPEN' }, SYSTEM);
    expect(others).toEqual({ data: [], nextCursor: null });
    for (const status of [undefined, 'GONE'] as never[])
      await expectRefusal(list({ status }), 'INVALID_QUERY');
  });
});
