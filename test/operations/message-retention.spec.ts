import { newId } from '../../src/common/ids';
import { SYSTEM } from '../../src/access/principal';
import { MessageRetentionService } from '../../src/privacy/message-retention.service';
import { WorkspacesService } from '../../src/workspaces/workspaces.service';
import { MessagingHost } from '../support/messaging-host';
import { insertAnsweredEvent, makeOldConversation } from '../support/stored-messages';

describe('the retention of messages', () => {
  let host: MessagingHost;

  beforeAll(async () => {
    host = await MessagingHost.create();
  });

  const clean = (stop?: AbortSignal) => host.get(MessageRetentionService).clean(stop);
  const keep = (workspace: { id: string }, messageRetentionDays: number | null) =>
    host.get(WorkspacesService).update(workspace.id, { messageRetentionDays }, SYSTEM);

  const conversationOf = (workspace: { id: string }, ages: number[]) =>
    makeOldConversation(host, workspace, ages);

  async function bodiesOf({ id }: { id: string }): Promise<string[]> {
    const rows = await host.query<{ body: string }>(
      'SELECT body FROM messages WHERE conversation_id = $1 ORDER BY id',
      [id],
    );
    return rows.map(({ body }) => body);
  }

  /** Returns the stored answers to an event, of all attempts of its delivery. */
  async function answersTo(eventId: string): Promise<(string | null)[]> {
    const rows = await host.query<{ answer: string | null }>(
      `SELECT encode(response, 'escape') AS answer FROM webhook_deliveries WHERE event_id = $1
       UNION ALL
       SELECT encode(a.response, 'escape') FROM webhook_attempts a
       JOIN webhook_deliveries d ON d.tenant_id = a.tenant_id AND d.id = a.delivery_id
       WHERE d.event_id = $1`,
      [eventId],
    );
    return rows.map(({ answer }) => answer);
  }

  it('erases what is older than a workspace keeps it, and nothing of those that keep all', async () => {
    const [own, other] = [await host.make.workspace(), await host.make.workspace()];
    const conversation = await conversationOf(own, [40, 31, 29, 0]);
    const young = await conversationOf(own, [3, 1]);
    const kept = await conversationOf(other, [4_000, 1]);
    expect(await clean()).toBe(0);
    await keep(own, 30);
    expect(await clean()).toBe(2);
    expect(await bodiesOf(conversation)).toEqual(['', '', 'words', 'words']);
    expect(await bodiesOf(young)).toEqual(['words', 'words']);
    expect(await bodiesOf(kept)).toEqual(['words', 'words']);

    await keep(own, 2);
    expect(await clean()).toBe(2);
    expect(await bodiesOf(conversation)).toEqual(['', '', '', 'words']);
    expect(await bodiesOf(young)).toEqual(['', 'words']);
    await keep(own, null);
  });

  it('erases what receivers have answered to events of that age, whatever they tell of a conversation', async () => {
    const [own, elsewhere] = [await host.make.workspace(), await host.make.workspace()];
    const [conversation, quiet] = [await conversationOf(own, [5]), await conversationOf(own, [6])];
    await keep(own, 4);
    await clean();
    const event = { conversationId: conversation.id };
    const expired = [
      await insertAnsweredEvent(host, own, 3, event),
      await insertAnsweredEvent(host, own, 3, { entity: 'conversation', entityId: conversation.id }),
      await insertAnsweredEvent(host, own, 3, { conversationId: quiet.id }),
    ];
    const kept = [
      await insertAnsweredEvent(host, own, 1, event),
      await insertAnsweredEvent(host, own, 3, { entity: 'agent', entityId: newId() }),
      await insertAnsweredEvent(host, elsewhere, 3, event),
    ];
    await keep(own, 2);
    expect(await clean()).toBe(0);
    for (const eventId of expired) expect(await answersTo(eventId)).toEqual([null, null]);
    for (const eventId of kept) expect(await answersTo(eventId)).toEqual(['answer', 'answer']);
    await keep(own, null);
  });

  it('goes on after a stop, and takes many messages of many conversations', async () => {
    const workspace = await host.make.workspace();
    const conversations = [
      await conversationOf(
        workspace,
        Array.from({ length: 450 }, (_, n) => 60 - n / 100),
      ),
    ];
    for (let n = 0; n < 3; n++) conversations.push(await conversationOf(workspace, [50]));
    await keep(workspace, 30);
    expect(await clean(AbortSignal.abort())).toBe(0);
    expect(await clean()).toBe(453);
    for (const conversation of conversations)
      expect(new Set(await bodiesOf(conversation))).toEqual(new Set(['']));
    expect(await clean()).toBe(0);
    await keep(workspace, null);
  });

  it.each([0, -1, 1.5, 36_501])('refuses %p days', async (days) => {
    await expect(keep(await host.make.workspace(), days)).rejects.toMatchObject({
      code: 'INVALID_BODY',
    });
  });
});
