import { SYSTEM } from '../../../src/common/principal';
import { MessageRetentionService } from '../../../src/privacy/message-retention.service';
import { WorkspacesService } from '../../../src/workspaces/workspaces.service';
import { MessagingHost } from '../../support/messaging-host';
import { makeOldConversation } from '../../support/stored-messages';

describe('the retention of messages', () => {
  let host: MessagingHost;

  beforeAll(async () => {
    host = await MessagingHost.create();
  });
  afterAll(() => host.close());

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
