import { SYSTEM } from '../../src/access/principal';
import { RETENTION_QUEUE } from '../../src/operations/retention/retention.processor';
import { WorkspacesService } from '../../src/workspaces/workspaces.service';
import { completeErasure, erasuresOf } from '../support/erasures';
import { MessagingHost } from '../support/messaging-host';
import { openQueue } from '../support/redis-connections';
import { ServiceProcess } from '../support/service-process';
import { insertMessages, makeOldConversation } from '../support/stored-messages';
import { tracesIn } from '../support/traces';
import { waitFor } from '../support/wait';

/** Number of messages that takes many steps. */
const MANY = 12_000;
/** Time in which another worker takes over: it notices within 15 s that a worker was killed. */
const TAKEN_OVER_MS = 60_000;

let host: MessagingHost;

beforeAll(async () => {
  host = await MessagingHost.create();
});

describe('the retention of messages', () => {
  const keep = (workspace: { id: string }, messageRetentionDays: number | null) =>
    host.get(WorkspacesService).update(workspace.id, { messageRetentionDays }, SYSTEM);

  it('is gone on with by another worker after a kill', async () => {
    const workspace = await host.make.workspace();
    const { id } = await makeOldConversation(
      host,
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
    await waitFor('some steps', async () => (await erased()) >= 400, TAKEN_OVER_MS);
    first.kill('SIGKILL');
    await first.exited;
    expect(await erased()).toBeLessThan(MANY);
    const next = await ServiceProcess.start('worker', host.stores);
    await waitFor('the others', async () => (await erased()) === MANY, TAKEN_OVER_MS);
    next.kill('SIGTERM');
    await next.exited;
    await keep(workspace, null);
  }, 120_000);
});

describe('an erasure of many messages', () => {
  it('is gone on with by another worker after a kill, and misses none', async () => {
    const workspace = await host.make.workspace();
    await host.make.agent(workspace);
    const contact = await host.make.contact(workspace);
    const conversation = await host.make.conversation(workspace, { contactId: contact.id });
    const second = await host.make.conversation(workspace, { contactId: contact.id });
    await insertMessages(host, workspace.id, conversation.id, 7_900);
    await insertMessages(host, workspace.id, second.id, 100);
    const erasure = await erasuresOf(host).start(workspace.id, contact.id, SYSTEM);
    const progress = () => erasuresOf(host).get(workspace.id, erasure.id, SYSTEM);

    const first = await ServiceProcess.start('worker', host.stores);
    await waitFor('some steps', async () => (await progress()).messages >= 400, 60_000);
    first.kill('SIGKILL');
    await first.exited;
    const { messages, status } = await progress();
    expect(status).toBe('running');
    expect(messages).toBeLessThan(8_000);
    expect(await tracesIn(host, ['many words'])).toEqual(['events.data', 'messages.body']);

    const next = await ServiceProcess.start('worker', host.stores);
    try {
      expect(await completeErasure(host, workspace.id, erasure)).toMatchObject({ messages: 8_000 });
    } finally {
      next.kill('SIGTERM');
      await next.exited;
    }
    expect(await tracesIn(host, ['many words'])).toEqual([]);
  }, 180_000);
});
