import { AlertsService } from '../../src/alerts/alerts.service';
import { SYSTEM } from '../../src/access/principal';
import { idFloor } from '../../src/common/ids';
import { Chat, ConnectedWorkspace, waitForStatus } from '../support/connected-workspace';
import { TestService } from '../support/service';
import { MetaSimulator } from '../support/simulators/meta-simulator';
import { TelegramSimulator } from '../support/simulators/telegram';
import { WhatsAppSimulator } from '../support/simulators/whatsapp';
import { waitFor } from '../support/wait';

describe('alerts of channels', () => {
  let telegram: TelegramSimulator;
  let whatsApp: WhatsAppSimulator;
  let service: TestService;

  beforeAll(async () => {
    telegram = await new TelegramSimulator().start();
    whatsApp = await new WhatsAppSimulator().start();
    const env = { ...telegram.environment, META_GRAPH_URL: whatsApp.url };
    service = await TestService.create({ role: 'all', env });
    telegram.hookOrigin = service.baseUrl;
    whatsApp.hookOrigin = service.baseUrl;
  });
  afterEach(() => {
    telegram.recover();
    whatsApp.recover();
  });

  const kinds = async ({ workspace: { id } }: ConnectedWorkspace, open: boolean) => {
    const alerts = service.app.get(AlertsService, { strict: false });
    return (await alerts.list(id, { open }, SYSTEM)).data.map(({ kind }) => kind);
  };
  const waitForOpen = (shop: ConnectedWorkspace, ...expected: string[]) =>
    waitFor(
      `open alerts ${expected.join()}`,
      async () => (await kinds(shop, true)).join() === expected.join(),
    );
  const botToken = ({ connection: { externalId } }: ConnectedWorkspace) =>
    TelegramSimulator.token(Number(externalId));

  describe('tell that credentials are needed', () => {
    async function refused() {
      const shop = await ConnectedWorkspace.telegram(service);
      const chat = await shop.chat();
      telegram.revokedTokens.add(botToken(shop));
      await waitForStatus(service, await chat.send('On its way.'), 'FAILED');
      expect(await kinds(shop, true)).toEqual(['CHANNEL_NEEDS_CREDENTIALS']);
      return shop;
    }

    it('until new ones work', async () => {
      const shop = await refused();
      telegram.revokedTokens.clear();
      await shop.rotate({ botToken: botToken(shop) });
      expect(await kinds(shop, true)).toEqual([]);
      expect(await kinds(shop, false)).toEqual(['CHANNEL_NEEDS_CREDENTIALS']);
    });

    it('until the channel is disconnected', async () => {
      const shop = await refused();
      await shop.disconnect();
      expect(await kinds(shop, true)).toEqual([]);
    });
  });

  describe('tell that replies fail', () => {
    async function failed(chat: Chat, count: number) {
      for (let n = 0; n < count; n++) await waitForStatus(service, await chat.send(`Reply ${n}`), 'FAILED');
    }

    it('from the fifth failure in a row, until one arrives', async () => {
      const shop = await ConnectedWorkspace.telegram(service);
      const chat = await shop.chat();
      telegram.trouble(TelegramSimulator.refusal(400, 'Bad Request: not enough rights'));
      await failed(chat, 4);
      telegram.recover();
      await waitForStatus(service, await chat.send('One arrives.'), 'SENT');
      // The count ends after the status is visible.
      await waitFor('the end of the count', async () => {
        const [row] = await service.query<{ failedReplies: number }>(
          'SELECT failed_replies AS "failedReplies" FROM channel_connections WHERE id = $1',
          [shop.connection.id],
        );
        return row!.failedReplies === 0;
      });
      telegram.trouble(TelegramSimulator.refusal(400, 'Bad Request: not enough rights'));
      await failed(chat, 4);
      expect(await kinds(shop, true)).toEqual([]);
      await failed(chat, 2);
      await waitForOpen(shop, 'REPLIES_FAILING');
      telegram.recover();
      await waitForStatus(service, await chat.send('On its way.'), 'SENT');
      await waitForOpen(shop);
      expect(await kinds(shop, false)).toEqual(['REPLIES_FAILING']);
    });

    it('not of failures that are hours apart, or for which the provider is not the reason', async () => {
      const shop = await ConnectedWorkspace.telegram(service);
      const chat = await shop.chat();
      telegram.trouble(TelegramSimulator.refusal(400, 'Bad Request: not enough rights'));
      await failed(chat, 4);
      await service.query(
        `UPDATE channel_connections SET failed_since = now() - interval '1 hour' WHERE id = $1`,
        [shop.connection.id],
      );
      await failed(chat, 1);
      await service.query('DELETE FROM contact_identities WHERE tenant_id = $1', [shop.workspace.id]);
      await failed(chat, 5);
      expect(await kinds(shop, false)).toEqual([]);
      expect(await kinds(shop, true)).toEqual([]);
    });

    it('that WhatsApp has accepted, until it delivers one', async () => {
      const shop = await ConnectedWorkspace.whatsApp(service);
      const chat = await shop.chat();
      const hook = { url: shop.connection.hookUrl, appSecret: 'app-secret' };
      const report = async (status: 'failed' | 'delivered', error?: object) => {
        await waitForStatus(service, await chat.send('On its way.'), 'SENT');
        const sent = whatsApp.sent.at(-1)!;
        const notification = whatsApp.notification(sent.phoneNumberId, {
          statuses: [whatsApp.status(sent, status, error)],
        });
        expect(await whatsApp.notify(hook, notification)).toBe(200);
        // Meta repeats a notification whose answer was lost.
        expect(await whatsApp.notify(hook, notification)).toBe(200);
      };
      const unpaid = { code: 131042, title: 'Business eligibility payment issue' };
      for (let n = 0; n < 4; n++) await report('failed', unpaid);
      expect(await kinds(shop, true)).toEqual([]);
      await report('failed', unpaid);
      expect(await kinds(shop, true)).toEqual(['REPLIES_FAILING']);
      await report('delivered');
      expect(await kinds(shop, true)).toEqual([]);
    });

    it('until the credentials are the reason, or the channel is disconnected', async () => {
      const shop = await ConnectedWorkspace.whatsApp(service);
      const chat = await shop.chat();
      whatsApp.trouble(MetaSimulator.refusal(131026, 'Message undeliverable'));
      await failed(chat, 5);
      await waitForOpen(shop, 'REPLIES_FAILING');
      whatsApp.recover();
      whatsApp.revokedTokens.add(`token-${shop.connection.externalId}`);
      await failed(chat, 1);
      await waitForOpen(shop, 'CHANNEL_NEEDS_CREDENTIALS');
      await shop.disconnect();
      expect(await kinds(shop, true)).toEqual([]);
    });
  });

  describe('tell that nothing is received', () => {
    const makeDue = ({ connection: { id } }: ConnectedWorkspace) =>
      service.query('UPDATE channel_connections SET reception_due_at = now() WHERE id = $1', [id]);
    const checked = async (shop: ConnectedWorkspace) => {
      await makeDue(shop);
      await waitFor('the check', () => {
        const asked = telegram.calls.filter(({ path }) => path.endsWith('/getWebhookInfo'));
        return asked.some(({ path }) => path.includes(botToken(shop)));
      });
    };
    const secondsAgo = (minutes: number) => Math.floor(Date.now() / 1000) - minutes * 60;
    const hold = (shop: ConnectedWorkspace, minutes: number) =>
      telegram.undelivered.set(botToken(shop), {
        pending_update_count: 3,
        last_error_date: secondsAgo(minutes),
      });

    it('while Telegram has messages that it can not deliver', async () => {
      const shop = await ConnectedWorkspace.telegram(service);
      hold(shop, 5);
      await makeDue(shop);
      await waitForOpen(shop, 'CHANNEL_RECEIVES_NOTHING');
      telegram.undelivered.clear();
      await makeDue(shop);
      await waitForOpen(shop);
      expect(await kinds(shop, false)).toEqual(['CHANNEL_RECEIVES_NOTHING']);
    });

    it('while Telegram delivers to another address, until the channel is disconnected', async () => {
      const shop = await ConnectedWorkspace.telegram(service);
      const webhook = telegram.webhooks.get(botToken(shop))!;
      telegram.webhooks.set(botToken(shop), { ...webhook, url: 'https://other.example.com/hook' });
      await makeDue(shop);
      await waitForOpen(shop, 'CHANNEL_RECEIVES_NOTHING');
      await shop.disconnect();
      expect(await kinds(shop, true)).toEqual([]);
    });

    it('not of an error that is over, nor while Telegram does not say', async () => {
      const shop = await ConnectedWorkspace.telegram(service);
      hold(shop, 61);
      await checked(shop);
      hold(shop, 5);
      telegram.revokedTokens.add(botToken(shop));
      await makeDue(shop);
      await waitFor('the next check', async () => {
        const [row] = await service.query<{ isLater: boolean }>(
          'SELECT reception_due_at > now() AS "isLater" FROM channel_connections WHERE id = $1',
          [shop.connection.id],
        );
        return row!.isLater;
      });
      telegram.revokedTokens.clear();
      expect(await kinds(shop, true)).toEqual([]);
      expect(await kinds(shop, false)).toEqual([]);
    });
  });

  describe('tell that it is unknown whether a reply has arrived', () => {
    /** Makes a reply without a known outcome that is so old. Returns its id. */
    async function unknown(shop: ConnectedWorkspace, chat: Chat, minutes: number) {
      telegram.trouble({ kind: 'reset' });
      const message = await chat.send('On its way.');
      await waitForStatus(service, message, 'UNKNOWN');
      telegram.recover();
      const id = idFloor(new Date(Date.now() - minutes * 60_000));
      await service.query('UPDATE messages SET id = $3 WHERE tenant_id = $1 AND id = $2', [
        shop.workspace.id,
        message.id,
        id,
      ]);
      return { id };
    }

    it('after a quarter of an hour, until somebody dismisses it', async () => {
      const shop = await ConnectedWorkspace.telegram(service);
      const chat = await shop.chat();
      await unknown(shop, chat, 10);
      const { id } = await unknown(shop, await shop.chat(), 16);
      await waitForOpen(shop, 'REPLY_UNKNOWN');
      await service.query('UPDATE messages SET dismissed_at = now() WHERE tenant_id = $1 AND id = $2', [
        shop.workspace.id,
        id,
      ]);
      await waitForOpen(shop);
      expect(await kinds(shop, false)).toEqual(['REPLY_UNKNOWN']);
    });

    it('once a conversation, until it is known of all', async () => {
      const shop = await ConnectedWorkspace.telegram(service);
      const chat = await shop.chat();
      const replies = [await unknown(shop, chat, 20), await unknown(shop, chat, 30)];
      await waitForOpen(shop, 'REPLY_UNKNOWN');
      for (const { id } of replies) {
        expect(await kinds(shop, true)).toEqual(['REPLY_UNKNOWN']);
        await service.query(`UPDATE messages SET delivery_status = 'SENT' WHERE tenant_id = $1 AND id = $2`, [
          shop.workspace.id,
          id,
        ]);
      }
      await waitForOpen(shop);
      expect(await kinds(shop, false)).toEqual(['REPLY_UNKNOWN']);
    });
  });
});
