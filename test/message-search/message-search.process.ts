import { SYSTEM } from '../../src/access/principal';
import { MessageSearchService } from '../../src/message-search/message-search.service';
import { killWorkers } from '../support/killed-workers';
import { MessagingHost } from '../support/messaging-host';
import { ServiceProcess } from '../support/service-process';
import { insertMessages } from '../support/stored-messages';
import { waitFor } from '../support/wait';

const OLD = 6_000;
const NEW = 60;
const DONE_MS = 90_000;

describe('the index of messages', () => {
  let host: MessagingHost;

  beforeAll(async () => {
    host = await MessagingHost.create();
  });

  const start = () => ServiceProcess.start('worker', host.stores);

  it('has each message once, while workers are killed and others go on', async () => {
    const workspace = await host.make.workspace();
    const conversation = await host.make.conversation(workspace);
    await insertMessages(host, workspace.id, conversation.id, OLD);
    const filled = async (): Promise<number> => {
      const [row] = await host.query<{ count: number }>(
        'SELECT count(*)::integer AS count FROM message_search',
      );
      return row!.count;
    };

    await killWorkers(host.stores, {
      count: filled,
      kills: [300, 1_500],
      all: OLD,
      withinMs: DONE_MS,
      onStart: () => host.make.received(workspace, conversation, 'first words'),
    });
    await Promise.all([start(), start()]);
    for (let n = 0; n < NEW; n++) await host.make.received(workspace, conversation, `numbered ${n}`);
    await waitFor('all of them', async () => (await filled()) === OLD + NEW + 2, DONE_MS);

    const numbers = await host.query(
      'SELECT newer::integer AS numbered FROM message_search_progress WHERE tenant_id = $1',
      [workspace.id],
    );
    expect(numbers).toEqual([{ numbered: OLD + NEW + 2 }]);
    const search = (text: string) =>
      host.get(MessageSearchService).search(workspace.id, { text, limit: 200 }, SYSTEM);
    expect((await search('numbered')).data).toHaveLength(NEW);
    expect((await search('"many words"')).data).toHaveLength(200);
  }, 300_000);
});
