import { Connection } from '../../src/channels/adapters/channel-adapter';
import { InstagramAdapter, InstagramCredentials } from '../../src/channels/adapters/meta/instagram-adapter';
import { InstagramTokensService } from '../../src/channels/tokens/instagram-tokens.service';
import { ConnectionLoader } from '../../src/channels/connections/connection-loader';
import { MessagingChannel, newCustomerId } from '../support/messaging-channel';
import { TestService } from '../support/service';
import { InstagramSimulator } from '../support/simulators/instagram';
import { graphError, MetaSimulator } from '../support/simulators/meta-simulator';

const DAY_MS = 24 * 60 * 60 * 1000;

describe('Instagram', () => {
  let service: TestService;
  let provider: InstagramSimulator;
  let account: MessagingChannel;
  let customer: string;

  beforeAll(async () => {
    provider = await new InstagramSimulator().start();
    service = await TestService.create({ role: 'all', env: { INSTAGRAM_GRAPH_URL: provider.url } });
    provider.hookOrigin = service.baseUrl;
  });
  beforeEach(async () => {
    account = await MessagingChannel.connect(service, provider, 'INSTAGRAM');
    customer = newCustomerId();
  });
  afterEach(() => provider.recover());

  const sentTo = (customerId: string) => provider.sent.filter((sent) => sent.customerId === customerId);

  describe('connecting', () => {
    it('subscribes the app to the account, and assumes 60 days for its token', () => {
      const { connection, accountId } = account;
      expect(connection).toMatchObject({ externalId: accountId, status: 'ACTIVE' });
      expect(connection.reveal).toEqual({ verifyToken: expect.any(String) });
      const days = (connection.credentialsExpireAt!.getTime() - Date.now()) / DAY_MS;
      expect(Math.round(days)).toBe(60);
      expect(provider.subscriptions.get(accountId)).toEqual(
        expect.arrayContaining(['messages', 'message_reactions', 'messaging_seen']),
      );
    });

    it('answers the handshake for the right verify token', async () => {
      const { hookUrl, reveal } = account.connection;
      expect(await provider.handshake(hookUrl, reveal.verifyToken!)).toMatchObject({ status: 200 });
      expect(await provider.handshake(hookUrl, 'guessed')).toMatchObject({ status: 403 });
    });
  });

  describe('an outbound message', () => {
    it('is sent unchanged', async () => {
      const message = await account.converse(customer, 'Desde 20 €.');
      expect(await account.delivery(message, ['SENT'])).toEqual({ status: 'SENT', error: null });
      expect(provider.sendsTo(customer)).toEqual([
        expect.objectContaining({
          method: 'POST',
          path: `/v25.0/${account.accountId}/messages`,
          query: { access_token: account.accessToken },
          body: { recipient: { id: customer }, message: { text: 'Desde 20 €.' } },
        }),
      ]);
    });

    it('is READ after its receipt', async () => {
      const message = await account.converse(customer);
      await account.delivery(message, ['SENT']);
      await account.notify(provider.read(account.accountId, customer, sentTo(customer)[0]!.mid));
      expect(await account.delivery(message, ['READ'])).toEqual({ status: 'READ', error: null });
    });

    it.each([
      ['WINDOW_CLOSED', '10/2534022', () => provider.windowClosedFor.add(customer)],
      ['REFUSED', '100/2534014', () => provider.unreachable.add(customer)],
      [
        'REFUSED',
        '100/2534001',
        () => provider.troubleNext(MetaSimulator.refusal(100, 'Thread deleted.', { subcode: 2534001 })),
      ],
    ])('fails as %s with %s', async (code, providerCode, arrange) => {
      arrange();
      const message = await account.converse(customer);
      expect(await account.delivery(message, ['FAILED'])).toMatchObject({ error: { code, providerCode } });
      expect(provider.sendsTo(customer)).toHaveLength(1);
    });

    it('is retried after a failure of Instagram', async () => {
      provider.troubleNext(MetaSimulator.refusal(2, 'Try again.', { subcode: 1545133, status: 500 }));
      await account.delivery(await account.converse(customer), ['SENT']);
      expect(provider.sendsTo(customer)).toHaveLength(2);
      expect(sentTo(customer)).toHaveLength(1);
    });

    it('fails while the token is invalid', async () => {
      provider.revokedTokens.add(account.accessToken);
      const message = await account.converse(customer);
      const { error } = await account.delivery(message, ['FAILED']);
      expect(error).toMatchObject({ code: 'REAUTH_REQUIRED', providerCode: '190' });
      expect(await account.status()).toBe('REAUTH_REQUIRED');
      await account.renew('IGanother');
      await account.delivery(await account.converse(customer), ['SENT']);
    });

    it('without a response is sent once, and recognized by the text of its echo', async () => {
      provider.troubleNext({ kind: 'reset' });
      const message = await account.converse(customer);
      expect(await account.delivery(message, ['UNKNOWN'])).toMatchObject({
        error: { code: 'OUTCOME_UNKNOWN' },
      });
      const [sent] = sentTo(customer);
      await account.notify(provider.echo({ ...sent!, mid: 'm_inbox', text: 'From the inbox' }));
      expect(await account.delivery(message, ['UNKNOWN', 'SENT'])).toMatchObject({ status: 'UNKNOWN' });
      await account.notify(provider.echo(sent!));
      await account.delivery(message, ['SENT']);
      await account.notify(provider.read(account.accountId, customer, sent!.mid));
      await account.delivery(message, ['READ']);
      expect(provider.sendsTo(customer)).toHaveLength(1);
    });
  });

  describe('a customer', () => {
    it('is stored with their message, once, but not with a deleted one', async () => {
      const { accountId } = account;
      const event = provider.message(accountId, customer, 'Price?');
      const deleted = provider.message(accountId, customer, '', { text: undefined, is_deleted: true });
      const answers = await Promise.all([event, event, event].map((same) => account.notify(same)));
      expect([...answers, await account.notify(deleted)]).toEqual([200, 200, 200, 200]);
      const messages = await account.messagesWith(customer);
      expect(messages).toMatchObject([{ senderType: 'CUSTOMER', body: 'Price?', metadata: null }]);
    });

    it('is stored with content that is not text', async () => {
      const { accountId } = account;
      const attachments = [{ type: 'story_mention', payload: { url: 'https://cdn.example/1' } }];
      const reaction = { mid: 'm_1', action: 'react', reaction: 'love', emoji: '❤' };
      const react = provider.event(accountId, customer, { reaction });
      await account.notify(
        provider.message(accountId, customer, '', { text: undefined, attachments }),
        react,
        provider.message(accountId, customer, '', { text: undefined, is_unsupported: true }),
      );
      await account.notify(react);
      expect(await account.messagesWith(customer)).toMatchObject([
        { body: '[story mention]', metadata: { attachments: [{ type: 'story_mention', payload: {} }] } },
        { body: '[reaction] ❤', metadata: { reaction } },
        { body: '[unsupported message]' },
      ]);
    });

    it('is stored only for an account whose own secret signed', async () => {
      const other = await MessagingChannel.connect(service, provider, 'INSTAGRAM');
      const events = [account, other].map(({ accountId }) => provider.message(accountId, customer, 'Price?'));
      expect(await account.notify(...events)).toBe(200);
      expect(await account.messagesWith(customer)).toHaveLength(1);
      expect(await other.messagesWith(customer)).toEqual([]);
    });

    it("is accepted with the Facebook app's signature, if its secret is known", async () => {
      const facebookAppSecret = 'facebook-secret';
      const both = await MessagingChannel.connect(service, provider, 'INSTAGRAM', { facebookAppSecret });
      const hook = { ...both.hook, appSecret: facebookAppSecret };
      const notification = provider.notification(provider.message(both.accountId, customer, 'Price?'));
      expect(await provider.notify(hook, notification)).toBe(200);
      expect(await both.messagesWith(customer)).toHaveLength(1);
      expect(await provider.notify({ ...account.hook, appSecret: facebookAppSecret }, notification)).toBe(
        401,
      );
    });

    it("of a test by Meta's dashboard is ignored without an error", async () => {
      expect(await provider.notify(account.hook, provider.dashboardTest())).toBe(200);
      expect(await account.messagesWith('12334')).toEqual([]);
    });

    it('is not stored when the signature is wrong', async () => {
      const notification = provider.notification(provider.message(account.accountId, customer, 'Hi'));
      expect(await provider.notify({ ...account.hook, appSecret: 'other' }, notification)).toBe(401);
      expect(await account.messagesWith(customer)).toEqual([]);
    });
  });

  describe("an account's token", () => {
    const refreshDue = () => service.app.get(InstagramTokensService, { strict: false }).refreshDue();

    /** Sets the age of an account's token and its remaining life, both in days. */
    const age = async (days: { since: number; left: number; isExpiryAssumed?: boolean }) => {
      const { since, left, isExpiryAssumed = false } = days;
      const settings = {
        accessTokenSince: new Date(Date.now() - since * DAY_MS).toISOString(),
        isExpiryAssumed,
      };
      await service.query(
        'UPDATE channel_connections SET settings = $2, credentials_expire_at = $3 WHERE id = $1',
        [account.connection.id, JSON.stringify(settings), new Date(Date.now() + left * DAY_MS)],
      );
    };
    const stored = async () => {
      const { workspace, connection } = account;
      const [row] = await service.query<{ days: number }>(
        `SELECT round(extract(epoch FROM credentials_expire_at - now()) / 86400)::int AS days
         FROM channel_connections WHERE id = $1`,
        [connection.id],
      );
      const loaded = await service.app.get(ConnectionLoader).load(workspace.id, connection.id);
      return { ...row!, credentials: loaded!.credentials };
    };
    const refreshes = () => provider.refreshed.filter(({ from }) => from === account.accessToken);

    it.each([
      ['in its last ten days', { since: 51, left: 9 }],
      ['when its expiry is assumed', { since: 1.1, left: 58.9, isExpiryAssumed: true }],
    ])('is replaced %s, once', async (_, life) => {
      await age(life);
      provider.tokenLifetimeSeconds = 30 * 24 * 3600;
      await Promise.all([refreshDue(), refreshDue()]);
      await refreshDue();
      expect(refreshes()).toHaveLength(1);
      const { to } = refreshes()[0]!;
      expect(await stored()).toMatchObject({ days: 30, credentials: { accessToken: to } });
      await account.delivery(await account.converse(customer), ['SENT']);
      expect(provider.sendsTo(customer)[0]!.query.access_token).toBe(to);
    });

    it.each([
      ['while more than ten days remain', { since: 49, left: 11 }],
      ['in its first 24 hours', { since: 0.9, left: 5 }],
      [
        'in its first 24 hours, even if its expiry is assumed',
        { since: 0.9, left: 59, isExpiryAssumed: true },
      ],
    ])('is not replaced %s', async (_, life) => {
      await age(life);
      await refreshDue();
      expect(refreshes()).toEqual([]);
    });

    it('is refreshed the next day after a failure of Instagram', async () => {
      await age({ since: 55, left: 5 });
      provider.refreshTrouble.push(graphError(2, `Out of order for ${account.accessToken}`, { status: 500 }));
      expect(await refreshDue()).toEqual({ refreshed: 0, failed: 1 });
      expect(await stored()).toMatchObject({ days: 5, credentials: { accessToken: account.accessToken } });
      expect(await account.status()).toBe('ACTIVE');
      expect(await refreshDue()).toEqual({ refreshed: 1, failed: 0 });
    });

    it('is never part of an error', async () => {
      const { workspace, connection, accessToken } = account;
      provider.refreshTrouble.push(graphError(2, `Out of order for ${accessToken}`, { status: 500 }));
      const loaded = await service.app.get(ConnectionLoader).load(workspace.id, connection.id);
      const outcome = await service.app
        .get(InstagramAdapter)
        .refresh(loaded as Connection<InstagramCredentials>);
      expect(outcome).toEqual({
        kind: 'FAILED',
        fault: { providerCode: '2', message: '(#2) Out of order for …' },
      });
    });

    it('that Instagram refuses marks the connection', async () => {
      await age({ since: 55, left: 5 });
      provider.revokedTokens.add(account.accessToken);
      expect(await refreshDue()).toEqual({ refreshed: 0, failed: 1 });
      expect(await account.status()).toBe('REAUTH_REQUIRED');
      expect(await refreshDue()).toEqual({ refreshed: 0, failed: 0 });
    });
  });
});
