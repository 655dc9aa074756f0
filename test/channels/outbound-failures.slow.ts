import { Client } from 'pg';
import { ConnectionLoader } from '../../src/channels/connections/connection-loader';
import { OutboundMessagesRepository } from '../../src/channels/outbound/outbound-messages.repository';
import {
  connect,
  ConnectedWorkspace,
  deliveryOf,
  waitForRouting,
  waitForStatus,
} from '../support/connected-workspace';
import { waitForLockWait } from '../support/lock-waits';
import { emptyRedis } from '../support/redis-connections';
import { countUnconnected, insertRouted } from '../support/routed-messages';
import { TestService } from '../support/service';
import { TelegramSimulator } from '../support/simulators/telegram';
import { waitFor } from '../support/wait';

/** Time that is longer than the timeout of a provider's answer. */
const SLOW_MS = 20_000;

describe('outbound messages', () => {
  let telegram: TelegramSimulator;
  let service: TestService;

  beforeAll(async () => {
    telegram = await new TelegramSimulator().start();
    service = await TestService.create({ role: 'all', env: telegram.environment });
  });
  afterEach(() => telegram.recover());

  const refusal = (status: number) => TelegramSimulator.refusal(status, 'Internal Server Error');

  it('sends to others while a message hangs, and never sends that one again', async () => {
    const workspace = await ConnectedWorkspace.telegram(service);
    const [slow, quick] = [await workspace.chat(), await workspace.chat()];
    telegram.troubleNext({ kind: 'slow' });
    const hanging = await slow.send('hangs');
    await waitFor('the call', () => telegram.textsTo(slow.customerId).length === 1);
    const [next, elsewhere] = [await slow.send('after it'), await quick.send('elsewhere')];

    await waitForStatus(service, elsewhere, 'SENT');
    expect(await deliveryOf(service, hanging)).toEqual({ status: 'SENDING', error: null });
    // Telegram has no receipts, so there is no hold.
    await waitForStatus(service, next, 'SENT', SLOW_MS);
    expect(await deliveryOf(service, hanging)).toMatchObject({
      status: 'UNKNOWN',
      error: { code: 'OUTCOME_UNKNOWN' },
    });
    expect(telegram.textsTo(slow.customerId)).toEqual(['hangs', 'after it']);
  }, 40_000);

  describe('when the provider fails', () => {
    it('retries before it sends the next message', async () => {
      const chat = await (await ConnectedWorkspace.telegram(service)).chat();
      telegram.troubleNext(refusal(500));
      const [first, second] = [await chat.send('first'), await chat.send('second')];
      await waitForStatus(service, first, 'SENT');
      await waitForStatus(service, second, 'SENT');
      expect(telegram.textsTo(chat.customerId)).toEqual(['first', 'first', 'second']);
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
      expect(telegram.textsTo(chat.customerId)).toEqual(['blocked']);
    });

    it('sends nothing over a connection whose credentials no longer work, until they are rotated', async () => {
      const workspace = await ConnectedWorkspace.telegram(service);
      const { connection } = workspace;
      const botToken = TelegramSimulator.token(Number(connection.externalId));
      const [chat, other] = [await workspace.chat(), await workspace.chat()];
      await workspace.exhaustThroughput();
      const [refused, waiting] = [await chat.send('refused'), await chat.send('waiting')];
      await waitForRouting(service, waiting);
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
      expect(telegram.textsTo(chat.customerId)).toEqual(['refused', 'again']);
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
      await workspace.exhaustThroughput();
      const message = await chat.send('to nobody');
      await waitForRouting(service, message);
      await service.query('DELETE FROM contact_identities WHERE external_id = $1', [chat.customerId]);
      await waitForStatus(service, message, 'FAILED');
      expect((await deliveryOf(service, message)).error).toMatchObject({ code: 'NO_RECIPIENT' });
      expect(telegram.textsTo(chat.customerId)).toEqual([]);
    });

    it('fails a message that was routed while its connection was disconnected', async () => {
      const workspace = await ConnectedWorkspace.telegram(service);
      const chat = await workspace.chat();
      await workspace.exhaustThroughput();
      const message = await chat.send('too late');
      await waitForRouting(service, message);
      await service.query(`UPDATE channel_connections SET status = 'DISCONNECTED' WHERE id = $1`, [
        workspace.connection.id,
      ]);
      await waitForStatus(service, message, 'FAILED');
      expect((await deliveryOf(service, message)).error).toMatchObject({ code: 'NO_CONNECTION' });
      expect(telegram.textsTo(chat.customerId)).toEqual([]);
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
    await emptyRedis(service.stores.redisUrl);
    await waitForStatus(service, message, 'SENT');
  });

  describe('over a connection that is disconnected', () => {
    let api: TestService;
    let workspace: ConnectedWorkspace;

    beforeEach(async () => {
      api = await TestService.create({ role: 'api', env: telegram.environment });
      workspace = await ConnectedWorkspace.telegram(api);
    });
    afterEach(() => api.close());

    it('a claim that began later finds nothing', async () => {
      await insertRouted(api, workspace, await workspace.chat(), 1);
      const loaded = await api.app
        .get(ConnectionLoader, { strict: false })
        .load(workspace.workspace.id, workspace.connection.id);
      const other = new Client({ connectionString: api.stores.databaseUrl });
      await other.connect();
      try {
        await other.query('BEGIN');
        const key = [loaded!.tenantId, loaded!.id];
        await other.query('SELECT FROM channel_connections WHERE tenant_id = $1 AND id = $2 FOR UPDATE', key);
        await other.query(
          `UPDATE channel_connections SET status = 'DISCONNECTED' WHERE tenant_id = $1 AND id = $2`,
          key,
        );
        const claiming = api.app.get(OutboundMessagesRepository, { strict: false }).claim(loaded!, 1);
        await waitForLockWait(api, 'the claim');
        await other.query('COMMIT');
        expect(await claiming).toEqual([]);
      } finally {
        await other.end();
      }
    });

    it('the messages behind them go over the next connection', async () => {
      const chat = await workspace.chat();
      await insertRouted(api, workspace, chat, 3);
      await workspace.disconnect();
      const botToken = TelegramSimulator.token(Number(workspace.connection.externalId));
      await connect(api, workspace.workspace, 'TELEGRAM', { botToken });
      const next = await chat.send('over the next one');
      const worker = await TestService.create({ role: 'worker', beside: api, env: telegram.environment });
      try {
        await waitForStatus(api, next, 'SENT');
        expect(await countUnconnected(api, workspace)).toBe(3);
        expect(telegram.textsTo(chat.customerId)).toEqual(['over the next one']);
      } finally {
        await worker.close();
      }
    });
  });
});
