import { Client } from 'pg';
import { OutboundMessagesRepository } from '../../src/channels/outbound/outbound-messages.repository';
import { MessageResponse } from '../../src/messages/message.dto';
import {
  ConnectedWorkspace,
  deliveryOf,
  waitForRouting,
  waitForStatus,
} from '../support/connected-workspace';
import { TestService } from '../support/service';
import { TelegramSimulator } from '../support/simulators/telegram';
import { waitFor } from '../support/wait';

/** Time in which two workers send many messages. */
const SLOW_MS = 20_000;

describe('outbound messages', () => {
  let telegram: TelegramSimulator;
  let service: TestService;

  beforeAll(async () => {
    telegram = await new TelegramSimulator().start();
    service = await TestService.create({ role: 'all', env: telegram.environment });
  });
  afterEach(() => telegram.recover());

  describe('in order', () => {
    it('sends the messages of one conversation one at a time, in order', async () => {
      const chat = await (await ConnectedWorkspace.telegram(service)).chat();
      telegram.troubleNext({ kind: 'slow', ms: 300 });
      const messages = [await chat.send('first'), await chat.send('second'), await chat.send('third')];

      await waitForStatus(service, messages[0]!, 'SENDING');
      expect(await deliveryOf(service, messages[1]!)).toEqual({ status: 'QUEUED', error: null });
      for (const message of messages) await waitForStatus(service, message, 'SENT');
      expect(telegram.textsTo(chat.customerId)).toEqual(['first', 'second', 'third']);
    });

    it('keeps the order when the second message is relayed first', async () => {
      const api = await TestService.create({ role: 'api', env: telegram.environment });
      const other = new Client({ connectionString: api.stores.databaseUrl });
      await other.connect();
      const workspace = await ConnectedWorkspace.telegram(api);
      const chat = await workspace.chat();
      const [first, second] = [await chat.send('first'), await chat.send('second')];
      await other.query('BEGIN');
      await other.query(
        `SELECT FROM event_queue q JOIN events e ON e.tenant_id = $1 AND e.id = q.event_id
         WHERE q.tenant_id = $1 AND e.data->'message'->>'id' = $2 FOR UPDATE OF q`,
        [workspace.workspace.id, first.id],
      );
      const workers = [
        await TestService.create({ role: 'worker', beside: api, env: telegram.environment }),
        await TestService.create({ role: 'worker', beside: api, env: telegram.environment }),
      ];
      try {
        await waitFor('the second to be routed', async () => {
          const rows = await api.query('SELECT FROM outbound_messages WHERE message_id = $1', [second.id]);
          return rows.length === 1;
        });
        const messages = workers[0]!.app.get(OutboundMessagesRepository);
        expect(await messages.countReady(workspace.target, 10)).toBe(0);
        expect(telegram.textsTo(chat.customerId)).toEqual([]);
        await other.query('COMMIT');

        await waitForStatus(api, second, 'SENT');
        expect(await deliveryOf(api, first)).toEqual({ status: 'SENT', error: null });
        expect(telegram.textsTo(chat.customerId)).toEqual(['first', 'second']);
      } finally {
        await other.end();
        for (const worker of workers) await worker.close();
        await api.close();
      }
    }, 30_000);

    it('sends the messages of many conversations in order, with two workers', async () => {
      const second = await TestService.create({ role: 'worker', beside: service, env: telegram.environment });
      try {
        const workspace = await ConnectedWorkspace.telegram(service);
        const chats = await Promise.all([
          workspace.chat(),
          workspace.chat(),
          workspace.chat(),
          workspace.chat(),
        ]);
        const bodies = ['1', '2', '3', '4'];
        for (const body of bodies) await Promise.all(chats.map((chat) => chat.send(body)));
        for (const { customerId } of chats) {
          await waitFor('all messages', () => telegram.textsTo(customerId).length >= bodies.length, SLOW_MS);
          expect(telegram.textsTo(customerId)).toEqual(bodies);
        }
      } finally {
        await second.close();
      }
    }, 40_000);
  });

  it('limits the throughput of a connection, and of no other', async () => {
    const [full, free] = [
      await ConnectedWorkspace.telegram(service),
      await ConnectedWorkspace.telegram(service),
    ];
    const [waits, goes] = [await full.chat(), await free.chat()];
    await full.exhaustThroughput();
    const waiting = await waits.send('waits');
    await waitForRouting(service, waiting);
    await waitForStatus(service, await goes.send('goes'), 'SENT');

    expect(await deliveryOf(service, waiting)).toEqual({ status: 'QUEUED', error: null });
    await waitForStatus(service, waiting, 'SENT');
  });

  it('pauses a connection for as long as its provider asks', async () => {
    const workspace = await ConnectedWorkspace.telegram(service);
    const [first, second] = [await workspace.chat(), await workspace.chat()];
    telegram.troubleNext(TelegramSimulator.tooManyRequests(4));
    const refused = await first.send('too many');
    await waitFor('the pause', async () => {
      const [row] = await service.query<{ paused: boolean }>(
        `SELECT paused_until > now() + interval '2 seconds' AS paused FROM channel_connections WHERE id = $1`,
        [workspace.connection.id],
      );
      return row!.paused;
    });
    const other = await second.send('meanwhile');
    await waitForRouting(service, other);
    expect(await service.app.get(OutboundMessagesRepository).countReady(workspace.target, 10)).toBe(0);

    await waitForStatus(service, refused, 'SENT');
    await waitForStatus(service, other, 'SENT');
    expect(telegram.textsTo(first.customerId)).toEqual(['too many', 'too many']);
    expect(telegram.textsTo(second.customerId)).toEqual(['meanwhile']);
  });

  it('does not look at the messages that wait behind another one', async () => {
    const api = await TestService.create({ role: 'api', env: telegram.environment });
    const worker = await TestService.create({ role: 'worker', beside: api, env: telegram.environment });
    try {
      const workspace = await ConnectedWorkspace.telegram(api);
      const [long, other] = [await workspace.chat(), await workspace.chat()];
      await workspace.exhaustThroughput();
      const messages: MessageResponse[] = [];
      for (const body of ['1', '2', '3']) messages.push(await long.send(body));
      messages.push(await other.send('4'));
      await waitForRouting(api, messages[3]!);
      const waiting = await api.query<{ id: string }>(
        'SELECT message_id AS id FROM outbound_messages WHERE waits',
      );
      expect(waiting.map(({ id }) => id).sort()).toEqual([messages[1]!.id, messages[2]!.id]);
      for (const message of messages) await waitForStatus(api, message, 'SENT');
    } finally {
      await worker.close();
      await api.close();
    }
  });
});
