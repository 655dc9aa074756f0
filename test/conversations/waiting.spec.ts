import { Actor, SYSTEM } from '../../src/access/principal';
import { idTime } from '../../src/common/ids';
import { ConversationsService } from '../../src/conversations/conversations.service';
import { Database } from '../../src/database/database';
import { ReadMarksService } from '../../src/inbox/read-marks/read-marks.service';
import { MessageChanges } from '../../src/messages/message-changes';
import { MessagesService } from '../../src/messages/messages.service';
import { ConversationsRepository } from '../../src/conversations/conversations.repository';
import { WorkspaceEntity } from '../../src/workspaces/workspace.entity';
import { MessagingHost } from '../support/messaging-host';

describe('customers who wait for a reply', () => {
  let host: MessagingHost;
  let own: WorkspaceEntity;
  let lin: Actor & { id: string };

  beforeAll(async () => {
    host = await MessagingHost.create();
  });
  beforeEach(async () => {
    own = await host.make.workspace();
    lin = { type: 'agent', id: (await host.make.agent(own, { role: 'AGENT' })).id };
  });

  const conversations = () => host.get(ConversationsService);
  const begin = (name = 'Ana') => host.make.begun(own, name);
  const list = (query: object = {}) => conversations().listActive(own.id, { view: 'waiting', ...query }, lin);
  const names = async (query: object = {}) => (await list(query)).data.map(({ contact }) => contact.name);
  const waitsOf = async ({ id }: { id: string }) => (await conversations().get(own.id, id, lin)).waitingSince;
  const count = async () => (await conversations().countWaiting(own.id, lin)).count;
  const reply = ({ id }: { id: string }) =>
    host.get(MessagesService).send(own.id, id, { body: 'Here it is.' }, lin);

  it('are listed with the time of their first message, the longest waiting first', async () => {
    expect(await conversations().countWaiting(own.id, lin)).toEqual({ count: 0, since: null });
    const ana = await begin('Ana');
    await begin('Ben');
    const later = await host.make.received(own, ana, 'Are you there?');
    expect(await names()).toEqual(['Ana', 'Ben']);
    const [first] = (await list()).data;
    expect(first!.lastMessageId).toBe(later.id);
    expect(first!.waitingSince!.getTime()).toBeLessThan(later.createdAt.getTime());
    const { count: waiting, since } = await conversations().countWaiting(own.id, lin);
    expect([waiting, since]).toEqual([2, first!.waitingSince]);
    expect(await waitsOf(ana)).toEqual(since);
  });

  it('wait no more once an agent, a key or a bot answers, and wait again from their next message on', async () => {
    const ana = await begin();
    await reply(ana);
    expect([await waitsOf(ana), await count()]).toEqual([null, 0]);
    const question = await host.make.received(own, ana, 'And when?');
    expect(await waitsOf(ana)).toEqual(idTime(question.id));
    await host.get(MessagesService).send(own.id, ana.id, { body: 'Tomorrow', senderAgentId: lin.id }, SYSTEM);
    expect(await count()).toBe(0);
  });

  it.each(['CLOSED', 'SNOOZED'] as const)('wait no more once the conversation is %s', async (status) => {
    const ana = await begin();
    await conversations().update(own.id, ana.id, { status }, lin);
    expect(await count()).toBe(0);
    await conversations().update(own.id, ana.id, { status: 'OPEN' }, lin);
    expect(await count()).toBe(0);
    await host.make.received(own, ana, 'Hello again');
    expect(await count()).toBe(1);
  });

  it('go on waiting when somebody reads or takes the conversation', async () => {
    const ana = await begin();
    const { data } = await list();
    await host.get(ReadMarksService).markRead(own.id, ana.id, { messageId: data[0]!.lastMessageId! }, lin);
    await conversations().update(own.id, ana.id, { assignedAgentId: lin.id }, lin);
    expect(await count()).toBe(1);
  });

  it('wait from the next message on when they take the first one back, and no more without one', async () => {
    const ana = await begin();
    const lastMessageId = (await list()).data[0]!.lastMessageId!;
    const second = await host.make.received(own, ana, 'I mean the grinder');
    const unsend = (messageId: string) =>
      host
        .get(Database)
        .transaction((tx) =>
          host.get(MessageChanges).unsend(tx, { tenantId: own.id, conversationId: ana.id, messageId }),
        );
    await unsend(lastMessageId);
    expect(await waitsOf(ana)).toEqual(idTime(second.id));
    await unsend(second.id);
    expect(await count()).toBe(0);
  });

  it('are found by channel and agent, page by page', async () => {
    const made = [await begin('Ana'), await begin('Ben'), await begin('Cleo')];
    await host.make.received(own, await host.make.conversation(own, { channel: 'WIDGET' }), 'Hi');
    await conversations().update(own.id, made[1]!.id, { assignedAgentId: lin.id }, lin);
    expect(await names({ assignedAgentId: lin.id })).toEqual(['Ben']);
    expect(await names({ assignedAgentId: 'nobody', channel: 'TELEGRAM' })).toEqual(['Ana', 'Cleo']);
    const first = await list({ limit: 2 });
    const rest = await list({ limit: 2, cursor: first.nextCursor! });
    expect([...first.data, ...rest.data].map(({ contact }) => contact.name)).toEqual([
      'Ana',
      'Ben',
      'Cleo',
      'Zoë Martín',
    ]);
    expect(rest.nextCursor).toBeNull();
    expect(await names({ ids: [made[2]!.id, made[0]!.id] })).toEqual(['Ana', 'Cleo']);
  });

  it('are nobody after the erasure of the person, and those of another workspace stay there', async () => {
    const ana = await begin();
    const other = await host.make.workspace();
    await host.make.begun(other, 'Zed');
    const erased = { tenantId: own.id, conversationId: ana.id, ids: [], eventIds: [], withContact: true };
    await host.get(Database).transaction((tx) => host.get(ConversationsRepository).erase(tx, erased));
    expect([await count(), await names()]).toEqual([0, []]);
    expect((await conversations().countWaiting(other.id, SYSTEM)).count).toBe(1);
  });
});
