import Redis from 'ioredis';
import { Client } from 'pg';
import { ChannelConnectionsService } from '../../../src/channels/connections/channel-connections.service';
import { ConnectionLoader } from '../../../src/channels/connections/connection-loader';
import { OutboundMessagesRepository } from '../../../src/channels/outbound/outbound-messages.repository';
import {
  Chat,
  connect,
  ConnectedWorkspace,
  deliveryOf,
  waitForStatus,
} from '../../support/connected-workspace';
import { waitForLockWait } from '../../support/lock-waits';
import { OwnRedis } from '../../support/own-redis';
import { SYSTEM } from '../../../src/common/principal';
import { MessageResponse } from '../../../src/messages/message.dto';
import { TestService } from '../../support/service';
import { ServiceProcess } from '../../support/service-process';
import { TelegramSimulator } from '../../support/simulators/telegram';
import { waitFor } from '../../support/wait';

/** Time in which a lease ends and a sweep finds its message. */
const LEASE_EXPIRES_MS = 30_000;
/** Time that is longer than the timeout of a provider's answer. */
const SLOW_MS = 20_000;

describe('outbound messages', () => {
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

  /** Texts that the provider was asked to send to a customer, refused or not. */
  const requested = (customerId: string) => telegram.sendsTo(Number(customerId)).map(({ body }) => body.text);

  const refusal = (status: number) => TelegramSimulator.refusal(status, 'Internal Server Error');

  const targetOf = ({ workspace, connection }: ConnectedWorkspace) => ({
    tenantId: workspace.id,
    id: connection.id,
  });

  /** Uses up the rate limit of a channel connection for three seconds. */
  async function exhaustThroughput({ connection }: ConnectedWorkspace, of = service): Promise<void> {
    const client = of === service ? redis : new Redis(of.stores.redisUrl);
    await client.set(`throughput:${connection.id}`, 30, 'EX', 3);
    if (client !== redis) client.disconnect();
  }

  describe('in order', () => {
    it('sends the messages of one conversation one at a time, in order', async () => {
      const chat = await (await ConnectedWorkspace.telegram(service)).chat();
      telegram.troubleNext({ kind: 'slow', ms: 300 });
      const messages = [await chat.send('first'), await chat.send('second'), await chat.send('third')];

      await waitForStatus(service, messages[0]!, 'SENDING');
      expect(await deliveryOf(service, messages[1]!)).toEqual({ status: 'QUEUED', error: null });
      for (const message of messages) await waitForStatus(service, message, 'SENT');
      expect(requested(chat.customerId)).toEqual(['first', 'second', 'third']);
    });

    it('keeps the order when the second message is relayed first', async () => {
      const api = await TestService.create({ role: 'api', env: environment() });
      const other = new Client({ connectionString: api.stores.databaseUrl });
      await other.connect();
      const workspace = await ConnectedWorkspace.telegram(api);
      const chat = await workspace.chat();
      const [first, second] = [await chat.send('first'), await chat.send('second')];
      await other.query('BEGIN');
      await other.query(
        `SELECT FROM event_queue q JOIN events e ON e.tenant_id = q.tenant_id AND e.id = q.event_id
         WHERE e.data->'message'->>'id' = $1 FOR UPDATE OF q`,
        [first.id],
      );
      const workers = [
        await TestService.create({ role: 'worker', beside: api, env: environment() }),
        await TestService.create({ role: 'worker', beside: api, env: environment() }),
      ];
      try {
        await waitFor('the second to be routed', async () => {
          const rows = await api.query('SELECT FROM outbound_messages WHERE message_id = $1', [second.id]);
          return rows.length === 1;
        });
        const messages = workers[0]!.app.get(OutboundMessagesRepository);
        expect(await messages.countReady(targetOf(workspace), 10)).toBe(0);
        expect(requested(chat.customerId)).toEqual([]);
        await other.query('COMMIT');

        await waitForStatus(api, second, 'SENT');
        expect(await deliveryOf(api, first)).toEqual({ status: 'SENT', error: null });
        expect(requested(chat.customerId)).toEqual(['first', 'second']);
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
          await waitFor('all messages', () => requested(customerId).length >= bodies.length, SLOW_MS);
          expect(requested(customerId)).toEqual(bodies);
        }
      } finally {
        await second.close();
      }
    }, 40_000);
  });

  it('sends to others while a message hangs, and never sends that one again', async () => {
    const workspace = await ConnectedWorkspace.telegram(service);
    const [slow, quick] = [await workspace.chat(), await workspace.chat()];
    telegram.troubleNext({ kind: 'slow' });
    const hanging = await slow.send('hangs');
    await waitFor('the call', () => requested(slow.customerId).length === 1);
    const [next, elsewhere] = [await slow.send('after it'), await quick.send('elsewhere')];

    await waitForStatus(service, elsewhere, 'SENT');
    expect(await deliveryOf(service, hanging)).toEqual({ status: 'SENDING', error: null });
    // Telegram has no receipts, so there is no hold.
    await waitForStatus(service, next, 'SENT', SLOW_MS);
    expect(await deliveryOf(service, hanging)).toMatchObject({
      status: 'UNKNOWN',
      error: { code: 'OUTCOME_UNKNOWN' },
    });
    expect(requested(slow.customerId)).toEqual(['hangs', 'after it']);
  }, 40_000);

  it('limits the throughput of a connection, and of no other', async () => {
    const [full, free] = [
      await ConnectedWorkspace.telegram(service),
      await ConnectedWorkspace.telegram(service),
    ];
    const [waits, goes] = [await full.chat(), await free.chat()];
    await exhaustThroughput(full);
    const waiting = await waits.send('waits');
    await waitForRouting(waiting.id);
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
    await waitForRouting(other.id);
    expect(await service.app.get(OutboundMessagesRepository).countReady(targetOf(workspace), 10)).toBe(0);

    await waitForStatus(service, refused, 'SENT');
    await waitForStatus(service, other, 'SENT');
    expect(requested(first.customerId)).toEqual(['too many', 'too many']);
    expect(requested(second.customerId)).toEqual(['meanwhile']);
  });

  describe('when the provider fails', () => {
    it('retries before it sends the next message', async () => {
      const chat = await (await ConnectedWorkspace.telegram(service)).chat();
      telegram.troubleNext(refusal(500));
      const [first, second] = [await chat.send('first'), await chat.send('second')];
      await waitForStatus(service, first, 'SENT');
      await waitForStatus(service, second, 'SENT');
      expect(requested(chat.customerId)).toEqual(['first', 'first', 'second']);
    });

    it('fails the message after the eighth attempt, and sends the next one', async () => {
      const chat = await (await ConnectedWorkspace.telegram(service)).chat();
      telegram.troubleNext(refusal(500), refusal(502));
      const [first, second] = [await chat.send('first'), await chat.send('second')];
      await waitFor('the first failure', async () => {
        const rows = await service.query(
          `UPDATE outbound_messages SET attempt_count = 7 WHERE message_id = $1 AND attempt_count = 1 RETURNING 1`,
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

    it('fails at once a message that the provider refuses for good', async () => {
      const chat = await (await ConnectedWorkspace.telegram(service)).chat();
      telegram.blockedBy.add(Number(chat.customerId));
      const message = await chat.send('blocked');
      await waitForStatus(service, message, 'FAILED');
      expect((await deliveryOf(service, message)).error).toEqual({
        code: 'REFUSED',
        providerCode: '403',
        message: 'Forbidden: bot was blocked by the user',
      });
      expect(requested(chat.customerId)).toEqual(['blocked']);
    });

    it('sends nothing over a connection whose credentials no longer work, until they are rotated', async () => {
      const workspace = await ConnectedWorkspace.telegram(service);
      const { connection } = workspace;
      const botToken = TelegramSimulator.token(Number(connection.externalId));
      const [chat, other] = [await workspace.chat(), await workspace.chat()];
      await exhaustThroughput(workspace);
      const [refused, waiting] = [await chat.send('refused'), await chat.send('waiting')];
      await waitForRouting(waiting.id);
      telegram.revokedTokens.add(botToken);

      await waitForStatus(service, refused, 'FAILED');
      expect((await deliveryOf(service, refused)).error).toMatchObject({
        code: 'REAUTH_REQUIRED',
        providerCode: '401',
      });
      await waitForStatus(service, waiting, 'FAILED');
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
      expect(requested(chat.customerId)).toEqual(['refused', 'again']);
    });
  });

  describe('without a connection or a recipient', () => {
    it('fails at once when the workspace has no connection', async () => {
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

    it('fails at once when the contact has no identity on the channel', async () => {
      const { workspace } = await ConnectedWorkspace.telegram(service);
      const conversation = await service.make.conversation(workspace, { channel: 'TELEGRAM' });
      const message = await service.make.sent(workspace, conversation);
      await waitForStatus(service, message, 'FAILED');
      expect((await deliveryOf(service, message)).error).toMatchObject({ code: 'NO_RECIPIENT' });
    });

    it('fails when the contact has lost its identity meanwhile', async () => {
      const workspace = await ConnectedWorkspace.telegram(service);
      const chat = await workspace.chat();
      await exhaustThroughput(workspace);
      const message = await chat.send('to nobody');
      await waitForRouting(message.id);
      await service.query('DELETE FROM contact_identities WHERE external_id = $1', [chat.customerId]);
      await waitForStatus(service, message, 'FAILED');
      expect((await deliveryOf(service, message)).error).toMatchObject({ code: 'NO_RECIPIENT' });
      expect(requested(chat.customerId)).toEqual([]);
    });

    it('fails a message that was routed while its connection was disconnected', async () => {
      const workspace = await ConnectedWorkspace.telegram(service);
      const chat = await workspace.chat();
      await exhaustThroughput(workspace);
      const message = await chat.send('too late');
      await waitForRouting(message.id);
      await service.query(`UPDATE channel_connections SET status = 'DISCONNECTED' WHERE id = $1`, [
        workspace.connection.id,
      ]);
      await waitForStatus(service, message, 'FAILED');
      expect((await deliveryOf(service, message)).error).toMatchObject({ code: 'NO_CONNECTION' });
      expect(requested(chat.customerId)).toEqual([]);
    });
  });

  it('retries after Redis is wiped', async () => {
    const chat = await (await ConnectedWorkspace.telegram(service)).chat();
    telegram.troubleNext(refusal(500));
    const message = await chat.send('kept');
    await waitFor('the failure', async () => {
      const rows = await service.query(
        'SELECT FROM outbound_messages WHERE message_id = $1 AND attempt_count = 1',
        [message.id],
      );
      return rows.length === 1;
    });
    await redis.flushdb();
    await waitForStatus(service, message, 'SENT');
  });

  it('sends and retries on schedule without Redis', async () => {
    const ownRedis = await OwnRedis.start();
    const api = await TestService.create({ role: 'api', env: environment() });
    const env = { ...environment(), REDIS_URL: ownRedis.url };
    const worker = await TestService.create({ role: 'worker', beside: api, env });
    try {
      const chat = await (await ConnectedWorkspace.telegram(api)).chat();
      await ownRedis.kill();
      telegram.troubleNext(refusal(500));
      const [first, second] = [await chat.send('first'), await chat.send('second')];
      await waitFor('the failure', () => requested(chat.customerId).length === 1);
      const failedAt = performance.now();
      await waitFor('the retry', () => requested(chat.customerId).length === 2);
      // A backoff of 2 s and up to 10 %, and a second for the poll; the rest is for a slow machine.
      expect(performance.now() - failedAt).toBeLessThan(5_000);
      for (const message of [first, second]) await waitForStatus(api, message, 'SENT');
      expect(requested(chat.customerId)).toEqual(['first', 'first', 'second']);
    } finally {
      await worker.close();
      await api.close();
      await ownRedis.stop();
    }
  }, 40_000);

  describe('over a connection that is disconnected', () => {
    let api: TestService;
    let workspace: ConnectedWorkspace;
    let messages: OutboundMessagesRepository;

    beforeEach(async () => {
      api = await TestService.create({ role: 'api', env: environment() });
      workspace = await ConnectedWorkspace.telegram(api);
      messages = api.app.get(OutboundMessagesRepository, { strict: false });
    });
    afterEach(() => api.close());

    const disconnect = () =>
      api.app
        .get(ChannelConnectionsService, { strict: false })
        .disconnect(workspace.workspace.id, workspace.connection.id, SYSTEM);

    /** Inserts routed messages of one conversation, of which all but the first wait. */
    async function insertRouted(chat: Chat, count: number): Promise<void> {
      const first = await chat.send('first');
      await api.query(
        `WITH copied AS (
           INSERT INTO messages
             (tenant_id, conversation_id, id, sender_type, sender_agent_id, body, delivery_status, created_at)
           SELECT tenant_id, conversation_id,
             (substr(id::text, 1, 19) || 'bfff-' || lpad(to_hex(n), 12, '0'))::uuid, sender_type, sender_agent_id, body,
             delivery_status, created_at
           FROM messages, generate_series(1, $3) n WHERE id = $1 RETURNING *
         ), routed AS (
           SELECT tenant_id, conversation_id, id, false AS waits FROM messages WHERE id = $1
           UNION ALL SELECT tenant_id, conversation_id, id, true FROM copied
         )
         INSERT INTO outbound_messages (tenant_id, conversation_id, message_id, connection_id, waits, next_attempt_at)
         SELECT tenant_id, conversation_id, id, $2, waits, now() FROM routed`,
        [first.id, workspace.connection.id, count - 1],
      );
      await api.query('DELETE FROM event_queue WHERE tenant_id = $1', [workspace.workspace.id]);
    }

    const failed = async () => {
      const [row] = await api.query<{ count: number }>(
        `SELECT count(*)::integer FROM messages
         WHERE tenant_id = $1 AND delivery_status = 'FAILED' AND delivery_error->>'code' = 'NO_CONNECTION'`,
        [workspace.workspace.id],
      );
      return row!.count;
    };

    it('a claim that began later finds nothing', async () => {
      await insertRouted(await workspace.chat(), 1);
      const loaded = await api.app
        .get(ConnectionLoader, { strict: false })
        .load(workspace.workspace.id, workspace.connection.id);
      const other = new Client({ connectionString: api.stores.databaseUrl });
      await other.connect();
      try {
        await other.query('BEGIN');
        await other.query('SELECT FROM channel_connections WHERE id = $1 FOR UPDATE', [loaded!.id]);
        await other.query(`UPDATE channel_connections SET status = 'DISCONNECTED' WHERE id = $1`, [
          loaded!.id,
        ]);
        const claiming = messages.claim(loaded!, 1);
        await waitForLockWait(api, 'the claim');
        await other.query('COMMIT');
        expect(await claiming).toEqual([]);
      } finally {
        await other.end();
      }
    });

    it('what waits fails in steps, although workers stop in between', async () => {
      const count = 3_000;
      await insertRouted(await workspace.chat(), count);
      await disconnect();
      expect(await failed()).toBe(0);
      let worker = await TestService.create({ role: 'worker', beside: api, env: environment() });
      await waitFor('the first step', async () => (await failed()) > 0);
      await worker.close();
      worker = await TestService.create({ role: 'worker', beside: api, env: environment() });
      try {
        await waitFor('the last step', async () => (await failed()) === count);
        expect(await api.query('SELECT FROM outbound_messages')).toEqual([]);
      } finally {
        await worker.close();
      }
    }, 40_000);

    it('the messages behind them go over the next connection', async () => {
      const chat = await workspace.chat();
      await insertRouted(chat, 3);
      await disconnect();
      const botToken = TelegramSimulator.token(Number(workspace.connection.externalId));
      await connect(api, workspace.workspace, 'TELEGRAM', { botToken });
      const next = await chat.send('over the next one');
      const worker = await TestService.create({ role: 'worker', beside: api, env: environment() });
      try {
        await waitForStatus(api, next, 'SENT');
        expect(await failed()).toBe(3);
        expect(requested(chat.customerId)).toEqual(['over the next one']);
      } finally {
        await worker.close();
      }
    });
  });

  it('does not look at the messages that wait behind another one', async () => {
    const api = await TestService.create({ role: 'api', env: environment() });
    const worker = await TestService.create({ role: 'worker', beside: api, env: environment() });
    try {
      const workspace = await ConnectedWorkspace.telegram(api);
      const [long, other] = [await workspace.chat(), await workspace.chat()];
      await exhaustThroughput(workspace, api);
      const messages: MessageResponse[] = [];
      for (const body of ['1', '2', '3']) messages.push(await long.send(body));
      messages.push(await other.send('4'));
      await waitForRouting(messages[3]!.id, api);
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

  describe('when a worker stops', () => {
    let api: TestService;

    beforeEach(async () => (api = await TestService.create({ role: 'api', env: environment() })));
    afterEach(() => api.close());

    it('never sends again what a killed worker may have sent', async () => {
      const chat = await (await ConnectedWorkspace.telegram(api)).chat();
      const worker = await ServiceProcess.start('worker', api.stores, environment());
      telegram.troubleNext({ kind: 'slow' });
      const [message, next] = [await chat.send('who knows'), await chat.send('the next')];
      await waitFor('the call', () => requested(chat.customerId).length === 1);
      worker.kill('SIGKILL');
      await worker.exited;
      const another = await ServiceProcess.start('worker', api.stores, environment());
      try {
        await waitForStatus(api, message, 'UNKNOWN', LEASE_EXPIRES_MS);
        await waitForStatus(api, next, 'SENT', LEASE_EXPIRES_MS);
        expect((await deliveryOf(api, message)).error).toMatchObject({ code: 'OUTCOME_UNKNOWN' });
        expect(requested(chat.customerId)).toEqual(['who knows', 'the next']);
      } finally {
        another.kill('SIGTERM');
        await another.exited;
      }
    }, 90_000);

    it('finishes and records what it is sending', async () => {
      const chat = await (await ConnectedWorkspace.telegram(api)).chat();
      const worker = await ServiceProcess.start('worker', api.stores, environment());
      telegram.troubleNext({ kind: 'slow', ms: 1_500 });
      const [message, next] = [await chat.send('in flight'), await chat.send('not claimed')];
      await waitFor('the call', () => requested(chat.customerId).length === 1);
      worker.kill('SIGTERM');

      expect(await worker.exited).toEqual({ code: 0, signal: null });
      expect(await deliveryOf(api, message)).toEqual({ status: 'SENT', error: null });
      expect(await deliveryOf(api, next)).toEqual({ status: 'QUEUED', error: null });
    }, 40_000);
  });

  async function waitForRouting(messageId: string, of = service): Promise<void> {
    await waitFor('the message to be routed', async () => {
      const rows = await of.query('SELECT FROM outbound_messages WHERE message_id = $1', [messageId]);
      return rows.length === 1;
    });
  }
});
