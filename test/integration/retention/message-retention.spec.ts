import { idFloor, newId } from '../../../src/common/ids';
import { SYSTEM } from '../../../src/common/principal';
import { MessageRetentionService } from '../../../src/privacy/message-retention.service';
import { RETENTION_QUEUE } from '../../../src/retention/retention.processor';
import { WorkspacesService } from '../../../src/workspaces/workspaces.service';
import { MessagingHost } from '../../support/messaging-host';
import { openQueue } from '../../support/redis-connections';
import { ServiceProcess } from '../../support/service-process';
import { waitFor } from '../../support/wait';

const DAY_MS = 24 * 60 * 60 * 1000;
/** Number of messages that takes many steps. */
const MANY = 12_000;
/** Time in which another worker takes over: it notices within 15 s that a worker was killed. */
const TAKEN_OVER_MS = 60_000;

describe('the retention of messages', () => {
  let host: MessagingHost;

  beforeAll(async () => {
    host = await MessagingHost.create();
  });
  afterAll(() => host.close());

  const clean = (stop?: AbortSignal) => host.get(MessageRetentionService).clean(stop);
  const keep = (workspace: { id: string }, messageRetentionDays: number | null) =>
    host.get(WorkspacesService).update(workspace.id, { messageRetentionDays }, SYSTEM);

  /** Makes a conversation with messages of these ages in days, oldest first. */
  async function conversationOf(workspace: { id: string }, ages: number[]) {
    const conversation = await host.make.conversation(workspace);
    const times = ages.map((age) => new Date(Date.now() - age * DAY_MS));
    // Ids begin with the time; the rest of each is that of a new id.
    const ids = times.map((time) => idFloor(time).slice(0, 19) + newId().slice(19));
    await host.query('UPDATE conversations SET id = $3 WHERE tenant_id = $1 AND id = $2', [
      workspace.id,
      conversation.id,
      (conversation.id = idFloor(new Date(times[0]!.getTime() - DAY_MS)).slice(0, 19) + newId().slice(19)),
    ]);
    await host.query(
      `INSERT INTO messages (tenant_id, conversation_id, id, sender_type, body, created_at)
       SELECT $1, $2, id, 'CUSTOMER', 'words', at FROM unnest($3::uuid[], $4::timestamptz[]) AS m (id, at)`,
      [workspace.id, conversation.id, ids, times],
    );
    return conversation;
  }

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

  it('is gone on with by another worker after a kill', async () => {
    const workspace = await host.make.workspace();
    const { id } = await conversationOf(
      workspace,
      Array.from({ length: MANY }, (_, n) => 60 - n / 1_000),
    );
    await keep(workspace, 30);
    const erased = async (): Promise<number> => {
      const [row] = await host.query<{ count: number }>(
        `SELECT count(*)::integer AS count FROM messages WHERE conversation_id = $1 AND body = ''`,
        [id],
      );
      return row!.count;
    };
    const jobs = openQueue(RETENTION_QUEUE, host.stores.redisUrl);
    await jobs.queue.add({});
    await jobs.close();

    const first = await ServiceProcess.start('worker', host.stores);
    await waitFor('some steps', async () => (await erased()) >= 400);
    first.kill('SIGKILL');
    await first.exited;
    expect(await erased()).toBeLessThan(MANY);
    const next = await ServiceProcess.start('worker', host.stores);
    await waitFor('the others', async () => (await erased()) === MANY, TAKEN_OVER_MS);
    next.kill('SIGTERM');
    await next.exited;
    await keep(workspace, null);
  }, 120_000);

  it.each([0, -1, 1.5, 36_501])('refuses %p days', async (days) => {
    await expect(keep(await host.make.workspace(), days)).rejects.toMatchObject({
      code: 'INVALID_BODY',
    });
  });
});
