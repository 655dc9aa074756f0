import { randomUUID } from 'node:crypto';
import { Actor, SYSTEM } from '../../src/access/principal';
import { ConversationsService } from '../../src/conversations/conversations.service';
import { LostMessagesService } from '../../src/messages/lost-messages.service';
import { MessagesService } from '../../src/messages/messages.service';
import { expectRefusal } from '../support/errors';
import { MessagingHost } from '../support/messaging-host';
import { subscribe, Subscription } from '../support/webhook-workspace';

describe('the view of lost replies', () => {
  let host: MessagingHost;
  let own: Subscription;
  let lin: Actor & { id: string };

  beforeAll(async () => {
    host = await MessagingHost.create();
  });
  beforeEach(async () => {
    own = await subscribe(host, 'https://127.0.0.1:9999/hook');
    lin = { type: 'agent', id: (await host.make.agent(own.workspace, { role: 'AGENT' })).id };
  });

  const make = async () => (await host.make.conversation(own.workspace)).id;
  const reply = async (conversation: string, repeatsId?: string) =>
    (await host.get(MessagesService).send(own.id, conversation, { body: 'On its way.', repeatsId }, lin))
      .message.id;
  const setStatus = (conversation: string, message: string, status: string) =>
    host.query(
      'UPDATE messages SET delivery_status = $4 WHERE tenant_id = $1 AND conversation_id = $2 AND id = $3',
      [own.id, conversation, message, status],
    );
  const lose = async (conversation: string, status = 'FAILED') => {
    const message = await reply(conversation);
    await setStatus(conversation, message, status);
    return message;
  };
  const update = (conversation: string, status: 'OPEN' | 'SNOOZED' | 'CLOSED') =>
    host.get(ConversationsService).update(own.id, conversation, { status }, lin);
  const dismiss = (conversation: string, messageId: string) =>
    host.get(LostMessagesService).dismiss(own.id, conversation, { messageId }, lin);
  const list = (query: object = {}) =>
    host.get(ConversationsService).listActive(own.id, { view: 'lost', ...query }, lin);
  const view = async (query: object = {}) =>
    (await list(query)).data.map(({ id, lost }) => [id, lost] as const);
  const count = () => host.get(ConversationsService).countLost(own.id, lin);
  const expectView = async (rows: [string, string][]) => {
    expect(await view()).toEqual(rows);
    expect(await count()).toBe(rows.length);
  };

  it('has the conversations with a reply that failed, or perhaps did, and their rows say so', async () => {
    const [failed, unknown, sent, waiting] = [await make(), await make(), await make(), await make()];
    await lose(failed);
    await lose(unknown, 'UNKNOWN');
    await setStatus(sent, await reply(sent), 'SENT');
    await reply(waiting);
    await expectView([
      [unknown, 'UNKNOWN'],
      [failed, 'FAILED'],
    ]);
    const { data } = await host.get(ConversationsService).listActive(own.id, { status: 'OPEN' }, lin);
    expect(data.map(({ id, lost }) => [id, lost])).toEqual([
      [waiting, null],
      [sent, null],
      [unknown, 'UNKNOWN'],
      [failed, 'FAILED'],
      [own.conversation.id, null],
    ]);
  });

  it('keeps a reply that was lost among others that were not, and before what the customer wrote', async () => {
    const id = await make();
    await lose(id);
    await setStatus(id, await reply(id), 'DELIVERED');
    await host.make.received(own.workspace, { id }, 'Are you there?');
    await expectView([[id, 'FAILED']]);
  });

  it('has a reply no more that is sent again, until that fails too', async () => {
    const id = await make();
    const first = await lose(id);
    const second = await reply(id, first);
    await expectView([]);
    await setStatus(id, second, 'UNKNOWN');
    await expectView([[id, 'UNKNOWN']]);
    // A receipt may come late.
    await setStatus(id, second, 'DELIVERED');
    await expectView([]);
  });

  it('has a reply no more that somebody dismisses, the others of its conversation still', async () => {
    const id = await make();
    const [first, second] = [await lose(id), await lose(id, 'UNKNOWN')];
    await dismiss(id, second);
    await expectView([[id, 'FAILED']]);
    await dismiss(id, first);
    await dismiss(id, first);
    await expectView([]);
    const { data } = await host.get(MessagesService).listPart(own.id, id, {}, lin);
    expect(data.map(({ isDismissed }) => isDismissed)).toEqual([true, true]);
    // What is dismissed may still be sent again.
    await reply(id, first);
  });

  it('dismisses nothing that was delivered, waits, or is unknown', async () => {
    const id = await make();
    const message = await reply(id);
    await dismiss(id, message);
    await dismiss(id, randomUUID());
    await setStatus(id, message, 'FAILED');
    await expectView([[id, 'FAILED']]);
    await expectRefusal(dismiss(id, 'nope'), 'INVALID_BODY');
    await expectRefusal(dismiss(randomUUID(), message), 'NOT_FOUND');
    const other = await subscribe(host, 'https://127.0.0.1:9999/hook');
    const foreign = host.get(LostMessagesService).dismiss(other.id, id, { messageId: message }, SYSTEM);
    await expectRefusal(foreign, 'NOT_FOUND');
    await expectView([[id, 'FAILED']]);
  });

  it('forgets what was lost before a conversation is closed, and has what is lost after that', async () => {
    const id = await make();
    await lose(id);
    await lose(id);
    const last = await reply(id);
    await update(id, 'SNOOZED');
    await expectView([[id, 'FAILED']]);
    await update(id, 'CLOSED');
    await expectView([]);
    await update(id, 'OPEN');
    await expectView([]);
    await update(id, 'CLOSED');
    await setStatus(id, last, 'FAILED');
    await expectView([[id, 'FAILED']]);
    expect(await view({ status: 'OPEN' })).toEqual([]);
  });

  it('has no reply whose text is erased', async () => {
    const id = await make();
    const message = await lose(id);
    await host.query("UPDATE messages SET body = '' WHERE tenant_id = $1 AND id = $2", [own.id, message]);
    await expectView([]);
  });

  it('comes in pages, of one channel, and for named conversations', async () => {
    const made: string[] = [];
    for (let n = 0; n < 5; n++) {
      const id = await make();
      made.unshift(id);
      for (let lost = 0; lost < 3; lost++) await lose(id);
    }
    const first = await list({ limit: 3 });
    const second = await list({ limit: 3, cursor: first.nextCursor! });
    expect([...first.data, ...second.data].map(({ id }) => id)).toEqual(made);
    expect(second.nextCursor).toBeNull();
    expect(await count()).toBe(5);
    const [{ sourceChannel }] = first.data as [(typeof first.data)[0]];
    expect((await view({ channel: sourceChannel })).length).toBe(5);
    expect(await view({ channel: sourceChannel === 'TELEGRAM' ? 'WIDGET' : 'TELEGRAM' })).toEqual([]);
    const named = await view({ ids: [made[1], own.conversation.id, randomUUID()].join() });
    expect(named).toEqual([[made[1], 'FAILED']]);
  });

  it('is each workspace’s own, and needs a status for any other list', async () => {
    await lose(await make());
    const other = await subscribe(host, 'https://127.0.0.1:9999/hook');
    const conversations = host.get(ConversationsService);
    expect(await conversations.countLost(other.id, SYSTEM)).toBe(0);
    expect((await conversations.listActive(other.id, { view: 'lost' }, SYSTEM)).data).toEqual([]);
    await expectRefusal(conversations.listActive(own.id, {}, SYSTEM), 'INVALID_QUERY');
    await expectRefusal(list({ status: 'NEW' }), 'INVALID_QUERY');
    await expectRefusal(list({ view: 'found' }), 'INVALID_QUERY');
  });
});
