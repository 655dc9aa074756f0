import Redis from 'ioredis';
import { Client } from 'pg';
import { OutboundMessagesRepository } from '../../src/channels/outbound/outbound-messages.repository';
import { UnroutedMessages } from '../../src/channels/outbound/unrouted-messages';
import { idFloor } from '../../src/common/ids';
import { MessageResponse } from '../../src/messages/message.dto';
import { ConnectedWorkspace, deliveryOf, waitForStatus } from '../support/connected-workspace';
import { TestService } from '../support/service';
import { ServiceProcess } from '../support/service-process';
import { TelegramSimulator } from '../support/simulators/telegram';
import { waitFor } from '../support/wait';

/** Longer than a lease lasts, and a sweep takes. */
const LEASE_ENDS_MS = 30_000;
/** Longer than a provider is waited for. */
const SLOW_MS = 20_000;

describe('sending over channels', () => {
  let telegram: TelegramSimulator;
  let service: TestService;
  let redis: Redis;

  beforeAll(async () => {
    telegram = await new TelegramSimulator().start();
    service = await TestService.create({ role: 'all', env: environment() });
    redis = new Redis(service.stores.redisUrl);
  });
  afterEach(() => telegram.recover());
  afterAll(async () => {
    redis.disconnect();
    await service.close();
    await telegram.stop();
  });

  function environment(): Record<string, string> {
    return { TELEGRAM_API_URL: telegram.url, PUBLIC_URL: 'https://messaging.example.com' };
  }

  /** What the provider was asked to send to a customer, refused or not. */
  const asked = (customerId: string) => telegram.sendsTo(Number(customerId)).map(({ body }) => body.text);

  const failed = (status: number) => TelegramSimulator.refusal(status, 'Internal Server Error');

  /** Uses up a connection's rate for a while. */
  async function exhaust({ connection }: ConnectedWorkspace): Promise<void> {
    await redis.set(`throughput:${connection.id}`, 30, 'EX', 3);
  }

  describe('in order', () => {
    it('sends the messages of one conversation one at a time, in the order they were written', async () => {
      const chat = await (await ConnectedWorkspace.telegram(service)).chat();
      telegram.troubleNext({ kind: 'slow', ms: 300 });
      const messages = [await chat.send('first'), await chat.send('second'), await chat.send('third')];

      await waitForStatus(service, messages[0]!, 'SENDING');
      expect(await deliveryOf(service, messages[1]!)).toEqual({ status: 'QUEUED', error: null });
      for (const message of messages) await waitForStatus(service, message, 'SENT');
      expect(asked(chat.customerId)).toEqual(['first', 'second', 'third']);
    });

    it('keeps to it when a message is relayed before the one that was written before it', async () => {
      const api = await TestService.create({ role: 'api', env: environment() });
      const other = new Client({ connectionString: api.stores.databaseUrl });
      await other.connect();
      const workspace = await ConnectedWorkspace.telegram(api);
      const chat = await workspace.chat();
      const [first, second] = [await chat.send('first'), await chat.send('second')];
      await other.query('BEGIN');
      await other.query(`SELECT FROM events WHERE data->'message'->>'id' = $1 FOR UPDATE`, [first.id]);
      const workers = [
        await TestService.create({ role: 'worker', beside: api, env: environment() }),
        await TestService.create({ role: 'worker', beside: api, env: environment() }),
      ];
      try {
        await waitFor('the second to wait', async () => {
          const rows = await api.query('SELECT FROM message_dispatches WHERE message_id = $1', [second.id]);
          return rows.length === 1;
        });
        const store = workers[0]!.app.get(OutboundMessagesRepository);
        expect(await store.countReady(workspace.connection.id, 10)).toBeNull();
        expect(asked(chat.customerId)).toEqual([]);
        await other.query('COMMIT');

        await waitForStatus(api, second, 'SENT');
        expect(await deliveryOf(api, first)).toEqual({ status: 'SENT', error: null });
        expect(asked(chat.customerId)).toEqual(['first', 'second']);
      } finally {
        await other.end();
        for (const worker of workers) await worker.close();
        await api.close();
      }
    }, 30_000);

    it('sends the messages of many conversations in order, with two workers', async () => {
      const second = await TestService.create({ role: 'worker', beside: service, env: environment() });
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
          await waitFor('all of them', () => asked(customerId).length >= bodies.length, SLOW_MS);
          expect(asked(customerId)).toEqual(bodies);
        }
      } finally {
        await second.close();
      }
    }, 40_000);
  });

  it('lets a customer whose message hangs hold up nobody else, and does not send that one again', async () => {
    const workspace = await ConnectedWorkspace.telegram(service);
    const [slow, quick] = [await workspace.chat(), await workspace.chat()];
    telegram.troubleNext({ kind: 'slow' });
    const hanging = await slow.send('hangs');
    await waitFor('the call', () => asked(slow.customerId).length === 1);
    const [next, elsewhere] = [await slow.send('after it'), await quick.send('elsewhere')];

    await waitForStatus(service, elsewhere, 'SENT');
    expect(await deliveryOf(service, hanging)).toEqual({ status: 'SENDING', error: null });
    // Telegram never tells what became of it, so it does not hold up what comes after it.
    await waitForStatus(service, next, 'SENT', SLOW_MS);
    expect(await deliveryOf(service, hanging)).toMatchObject({
      status: 'UNKNOWN',
      error: { code: 'OUTCOME_UNKNOWN' },
    });
    expect(asked(slow.customerId)).toEqual(['hangs', 'after it']);
  }, 40_000);

  it('keeps to the rate of a connection, and holds up no other', async () => {
    const [full, free] = [
      await ConnectedWorkspace.telegram(service),
      await ConnectedWorkspace.telegram(service),
    ];
    const [waits, goes] = [await full.chat(), await free.chat()];
    await exhaust(full);
    const waiting = await waits.send('waits');
    await waitForDispatch(waiting.id);
    await waitForStatus(service, await goes.send('goes'), 'SENT');

    expect(await deliveryOf(service, waiting)).toEqual({ status: 'QUEUED', error: null });
    await waitForStatus(service, waiting, 'SENT');
  });

  it('leaves a connection alone for as long as its provider says', async () => {
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
    await waitForDispatch(other.id);
    expect(
      await service.app.get(OutboundMessagesRepository).countReady(workspace.connection.id, 10),
    ).toBeNull();

    await waitForStatus(service, refused, 'SENT');
    await waitForStatus(service, other, 'SENT');
    expect(asked(first.customerId)).toEqual(['too many', 'too many']);
    expect(asked(second.customerId)).toEqual(['meanwhile']);
  });

  describe('when the provider fails', () => {
    it('tries again, and holds up what comes after it', async () => {
      const chat = await (await ConnectedWorkspace.telegram(service)).chat();
      telegram.troubleNext(failed(500));
      const [first, second] = [await chat.send('first'), await chat.send('second')];
      await waitForStatus(service, first, 'SENT');
      await waitForStatus(service, second, 'SENT');
      expect(asked(chat.customerId)).toEqual(['first', 'first', 'second']);
    });

    it('gives up after the eighth attempt, and goes on with what comes after it', async () => {
      const chat = await (await ConnectedWorkspace.telegram(service)).chat();
      telegram.troubleNext(failed(500), failed(502));
      const [first, second] = [await chat.send('first'), await chat.send('second')];
      await waitFor('the first failure', async () => {
        const rows = await service.query(
          `UPDATE message_dispatches SET attempt_count = 7 WHERE message_id = $1 AND attempt_count = 1 RETURNING 1`,
          [first.id],
        );
        return rows.length === 1;
      });

      await waitForStatus(service, first, 'FAILED');
      expect(await deliveryOf(service, first)).toEqual({
        status: 'FAILED',
        error: { code: 'RETRIES_EXHAUSTED', providerCode: '502', message: 'Internal Server Error' },
      });
      await waitForStatus(service, second, 'SENT');
    });

    it('gives up at once what the provider refuses for good', async () => {
      const chat = await (await ConnectedWorkspace.telegram(service)).chat();
      telegram.blockedBy.add(Number(chat.customerId));
      const message = await chat.send('blocked');
      await waitForStatus(service, message, 'FAILED');
      expect((await deliveryOf(service, message)).error).toEqual({
        code: 'REFUSED',
        providerCode: '403',
        message: 'Forbidden: bot was blocked by the user',
      });
      expect(asked(chat.customerId)).toEqual(['blocked']);
    });

    it('sends no more over a connection whose credentials no longer work, until they are rotated', async () => {
      const workspace = await ConnectedWorkspace.telegram(service);
      const { connection } = workspace;
      const botToken = TelegramSimulator.token(Number(connection.externalId));
      const [chat, other] = [await workspace.chat(), await workspace.chat()];
      await exhaust(workspace);
      const [refused, waiting] = [await chat.send('refused'), await chat.send('waiting')];
      await waitForDispatch(waiting.id);
      telegram.revokedTokens.add(botToken);

      await waitForStatus(service, refused, 'FAILED');
      expect((await deliveryOf(service, refused)).error).toMatchObject({
        code: 'REAUTH_REQUIRED',
        providerCode: '401',
      });
      expect((await deliveryOf(service, waiting)).error).toMatchObject({
        code: 'REAUTH_REQUIRED',
        providerCode: null,
      });
      const late = await other.send('late');
      await waitForStatus(service, late, 'FAILED');
      expect((await deliveryOf(service, late)).error).toMatchObject({ code: 'REAUTH_REQUIRED' });
      expect(
        await service.query('SELECT actor_type FROM audit_entries WHERE entity_id = $1 AND action = $2', [
          connection.id,
          'channel_connection.reauth_required',
        ]),
      ).toEqual([{ actor_type: 'system' }]);

      telegram.revokedTokens.clear();
      await workspace.rotate({ botToken });
      await waitForStatus(service, await chat.send('again'), 'SENT');
      expect(asked(chat.customerId)).toEqual(['refused', 'again']);
    });
  });

  describe('with no way to go', () => {
    it('fails at once where the workspace has no connection', async () => {
      const workspace = await service.make.workspace();
      await service.make.agent(workspace);
      const conversation = await service.make.conversation(workspace, { channel: 'TELEGRAM' });
      const message = await service.make.sent(workspace, conversation);
      await waitForStatus(service, message, 'FAILED');
      expect((await deliveryOf(service, message)).error).toMatchObject({
        code: 'NO_CONNECTION',
        providerCode: null,
      });
    });

    it('fails at once where the channel does not know the contact', async () => {
      const { workspace } = await ConnectedWorkspace.telegram(service);
      const conversation = await service.make.conversation(workspace, { channel: 'TELEGRAM' });
      const message = await service.make.sent(workspace, conversation);
      await waitForStatus(service, message, 'FAILED');
      expect((await deliveryOf(service, message)).error).toMatchObject({ code: 'NO_RECIPIENT' });
    });

    it('fails where the contact has lost its identity meanwhile', async () => {
      const workspace = await ConnectedWorkspace.telegram(service);
      const chat = await workspace.chat();
      await exhaust(workspace);
      const message = await chat.send('to nobody');
      await waitForDispatch(message.id);
      await service.query('DELETE FROM contact_identities WHERE external_id = $1', [chat.customerId]);
      await waitForStatus(service, message, 'FAILED');
      expect((await deliveryOf(service, message)).error).toMatchObject({ code: 'NO_RECIPIENT' });
      expect(asked(chat.customerId)).toEqual([]);
    });

    it('fails what a connection got while it was being disconnected', async () => {
      const workspace = await ConnectedWorkspace.telegram(service);
      const chat = await workspace.chat();
      await exhaust(workspace);
      const message = await chat.send('too late');
      await waitForDispatch(message.id);
      await service.query(`UPDATE channel_connections SET status = 'DISCONNECTED' WHERE id = $1`, [
        workspace.connection.id,
      ]);
      await waitForStatus(service, message, 'FAILED');
      expect((await deliveryOf(service, message)).error).toMatchObject({ code: 'NO_CONNECTION' });
      expect(asked(chat.customerId)).toEqual([]);
    });
  });

  it('goes on when Redis is wiped', async () => {
    const chat = await (await ConnectedWorkspace.telegram(service)).chat();
    telegram.troubleNext(failed(500));
    const message = await chat.send('kept');
    await waitFor('the failure', async () => {
      const rows = await service.query(
        'SELECT FROM message_dispatches WHERE message_id = $1 AND attempt_count = 1',
        [message.id],
      );
      return rows.length === 1;
    });
    await redis.flushdb();
    await waitForStatus(service, message, 'SENT');
  });

  describe('when a worker of a release without channels has relayed a message', () => {
    let forgottenCount = 0;

    /** Makes it two minutes older than it is, and its event relayed. */
    async function forget(api: TestService, message: MessageResponse): Promise<MessageResponse> {
      const { id } = message;
      const aged = idFloor(new Date(Date.now() - 120_000 - forgottenCount++));
      await api.query('UPDATE messages SET id = $2 WHERE id = $1', [id, aged]);
      await api.query(`UPDATE events SET relayed_at = now() WHERE data->'message'->>'id' = $1`, [id]);
      return { ...message, id: aged };
    }

    it('sends it all the same, and what waits behind it, or fails it', async () => {
      const api = await TestService.create({ role: 'api', env: environment() });
      const chat = await (await ConnectedWorkspace.telegram(api)).chat();
      const unconnected = await api.make.workspace();
      await api.make.agent(unconnected);
      const conversation = await api.make.conversation(unconnected, { channel: 'TELEGRAM' });
      const forgotten = await forget(api, await chat.send('forgotten'));
      const lost = await forget(api, await api.make.sent(unconnected, conversation));
      const next = await chat.send('the next');
      const worker = await TestService.create({ role: 'worker', beside: api, env: environment() });
      try {
        await waitForDispatch(next.id, api);
        expect(asked(chat.customerId)).toEqual([]);
        await worker.app.get(UnroutedMessages).route();

        await waitForStatus(api, next, 'SENT');
        expect(await deliveryOf(api, forgotten)).toEqual({ status: 'SENT', error: null });
        expect((await deliveryOf(api, lost)).error).toMatchObject({ code: 'NO_CONNECTION' });
        expect(asked(chat.customerId)).toEqual(['forgotten', 'the next']);
      } finally {
        await worker.close();
        await api.close();
      }
    }, 30_000);
  });

  describe('when a worker ends', () => {
    let api: TestService;

    beforeEach(async () => (api = await TestService.create({ role: 'api', env: environment() })));
    afterEach(() => api.close());

    it('never sends again what a killed one may have sent', async () => {
      const chat = await (await ConnectedWorkspace.telegram(api)).chat();
      const worker = await ServiceProcess.start('worker', api.stores, environment());
      telegram.troubleNext({ kind: 'slow' });
      const [message, next] = [await chat.send('who knows'), await chat.send('the next')];
      await waitFor('the call', () => asked(chat.customerId).length === 1);
      worker.kill('SIGKILL');
      await worker.exited;
      const another = await ServiceProcess.start('worker', api.stores, environment());
      try {
        await waitForStatus(api, message, 'UNKNOWN', LEASE_ENDS_MS);
        await waitForStatus(api, next, 'SENT', LEASE_ENDS_MS);
        expect((await deliveryOf(api, message)).error).toMatchObject({ code: 'OUTCOME_UNKNOWN' });
        expect(asked(chat.customerId)).toEqual(['who knows', 'the next']);
      } finally {
        another.kill('SIGTERM');
        await another.exited;
      }
    }, 90_000);

    it('lets what is under way end, and records it', async () => {
      const chat = await (await ConnectedWorkspace.telegram(api)).chat();
      const worker = await ServiceProcess.start('worker', api.stores, environment());
      telegram.troubleNext({ kind: 'slow', ms: 1_500 });
      const [message, next] = [await chat.send('under way'), await chat.send('not begun')];
      await waitFor('the call', () => asked(chat.customerId).length === 1);
      worker.kill('SIGTERM');

      expect(await worker.exited).toEqual({ code: 0, signal: null });
      expect(await deliveryOf(api, message)).toEqual({ status: 'SENT', error: null });
      expect(await deliveryOf(api, next)).toEqual({ status: 'QUEUED', error: null });
    }, 40_000);
  });

  async function waitForDispatch(messageId: string, of = service): Promise<void> {
    await waitFor('the message to be relayed', async () => {
      const rows = await of.query('SELECT FROM message_dispatches WHERE message_id = $1', [messageId]);
      return rows.length === 1;
    });
  }
});
