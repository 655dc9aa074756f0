import { createHmac } from 'node:crypto';
import { ChannelConnectionsService } from '../../src/channels/connections/channel-connections.service';
import { SYSTEM } from '../../src/access/principal';
import { WebhookEndpointsService } from '../../src/webhooks/endpoints/webhook-endpoints.service';
import { eventsOf } from '../support/events';
import { MessagingChannel, newAccountId, newCustomerId } from '../support/messaging-channel';
import { TestService } from '../support/service';
import { MessengerSimulator } from '../support/simulators/messenger';
import { MetaSimulator } from '../support/simulators/meta-simulator';
import { waitFor } from '../support/wait';

describe('Messenger', () => {
  let service: TestService;
  let provider: MessengerSimulator;
  let page: MessagingChannel;
  let customer: string;

  beforeAll(async () => {
    provider = await new MessengerSimulator().start();
    service = await TestService.create({ role: 'all', env: { META_GRAPH_URL: provider.url } });
    provider.hookOrigin = service.baseUrl;
  });
  beforeEach(async () => {
    page = await MessagingChannel.connect(service, provider, 'MESSENGER');
    customer = newCustomerId();
  });
  afterEach(() => {
    provider.recover();
    provider.appSecret = null;
  });

  const proofOf = ({ accessToken, hook }: MessagingChannel) =>
    createHmac('sha256', hook.appSecret).update(accessToken).digest('hex');
  const sentTo = (customerId: string) => provider.sent.filter((sent) => sent.customerId === customerId);

  describe('connecting', () => {
    it('subscribes the app to the page, and reveals a verify token', () => {
      const { connection, accountId, accessToken } = page;
      expect(connection).toMatchObject({ channel: 'MESSENGER', externalId: accountId, status: 'ACTIVE' });
      expect(connection.credentialsExpireAt).toBeNull();
      expect(connection.reveal).toEqual({ verifyToken: expect.stringMatching(/^[\w-]{32}$/) });
      expect(JSON.stringify(connection)).not.toContain(accessToken);
      expect(provider.subscriptions.get(accountId)).toEqual(
        expect.arrayContaining(['messages', 'message_deliveries', 'message_reads', 'message_echoes']),
      );
    });

    it('answers the handshake for the right verify token', async () => {
      const { hookUrl, reveal } = page.connection;
      expect(await provider.handshake(hookUrl, reveal.verifyToken!)).toEqual({
        status: 200,
        body: '1158201444',
      });
      expect(await provider.handshake(hookUrl, 'guessed')).toMatchObject({ status: 403 });
    });

    it("fails with Meta's message, without the token", async () => {
      const [accessToken, pageId] = ['EAA+revoked/token=', newAccountId()];
      provider.revokedTokens.add(accessToken);
      const { id } = await service.make.workspace();
      const connections = service.app.get(ChannelConnectionsService);
      const credentials = { pageId, accessToken, appSecret: 'secret' };
      const connected = connections.connect(id, { channel: 'MESSENGER', credentials }, SYSTEM);
      const error = await connected.catch((reason: Error) => reason);
      expect(error).toMatchObject({ code: 'INVALID_BODY', message: expect.stringContaining('#190') });
      expect(JSON.stringify(error)).not.toContain('revoked');
      expect(await connections.list(id, SYSTEM)).toEqual([]);
    });

    it.each([
      [{ pageId: 'my-page', accessToken: 'a', appSecret: 's' }, 'pageId'],
      [{ pageId: '1', accessToken: '', appSecret: 's' }, 'accessToken'],
      [{ pageId: '1', accessToken: 'a' }, 'appSecret'],
      [{ pageId: '1', accessToken: 'a', appSecret: 's', phone: '1' }, 'phone'],
    ])('needs complete credentials: %j', async (credentials, field) => {
      const { id } = await service.make.workspace();
      const connected = service.app
        .get(ChannelConnectionsService)
        .connect(id, { channel: 'MESSENGER', credentials }, SYSTEM);
      await expect(connected).rejects.toMatchObject({ code: 'INVALID_BODY', details: [{ field }] });
    });

    it('is undone by disconnecting', async () => {
      const { accountId, workspace, connection } = page;
      await service.app.get(ChannelConnectionsService).disconnect(workspace.id, connection.id, SYSTEM);
      expect(provider.subscriptions.has(accountId)).toBe(false);
    });
  });

  describe('an outbound message', () => {
    it('is sent as RESPONSE, with the proof and our id', async () => {
      provider.appSecret = page.hook.appSecret;
      const message = await page.converse(customer, 'Until six.\nGrüße 👋');
      expect(await page.delivery(message, ['SENT'])).toEqual({ status: 'SENT', error: null });
      expect(provider.sendsTo(customer)).toEqual([
        expect.objectContaining({
          method: 'POST',
          path: `/v25.0/${page.accountId}/messages`,
          query: { access_token: page.accessToken, appsecret_proof: proofOf(page) },
          body: {
            recipient: { id: customer },
            messaging_type: 'RESPONSE',
            message: { text: 'Until six.\nGrüße 👋', metadata: message.id },
          },
        }),
      ]);
    });

    it('is DELIVERED and READ after its receipts', async () => {
      const subscriber = { url: 'https://127.0.0.1:1024/', events: ['message.status_changed'] };
      await service.app.get(WebhookEndpointsService).create(page.workspace.id, subscriber, SYSTEM);
      const { conversationId } = await page.write(customer, 'Opening hours?');
      const message = await page.send(conversationId, 'Until six.');
      await page.delivery(message, ['SENT']);
      const { mid } = sentTo(customer)[0]!;
      await page.notify(provider.delivered(page.accountId, customer, [mid]));
      expect(await page.delivery(message, ['DELIVERED'])).toEqual({ status: 'DELIVERED', error: null });
      await page.notify(provider.read(page.accountId, customer));
      await page.delivery(message, ['READ']);
      await page.notify(provider.delivered(page.accountId, customer, [mid]));
      expect(await page.delivery(message, ['READ', 'DELIVERED'])).toMatchObject({ status: 'READ' });
      expect(await eventsOf(service, page.workspace, 'message.status_changed')).toEqual(
        ['SENT', 'DELIVERED', 'READ'].map((status) => ({
          conversationId,
          messageId: message.id,
          status,
          errorCode: null,
        })),
      );
    });

    it('is READ by a watermark alone, unlike later ones and other customers’', async () => {
      const before = Date.now() - 60_000;
      const other = newCustomerId();
      const [message, theirs] = [await page.converse(customer), await page.converse(other)];
      for (const sent of [message, theirs]) await page.delivery(sent, ['SENT']);
      await page.notify(provider.read(page.accountId, customer, before));
      expect(await page.delivery(message, ['SENT', 'READ'])).toMatchObject({ status: 'SENT' });
      await page.notify(provider.read(page.accountId, customer));
      await page.delivery(message, ['READ']);
      expect(await page.delivery(theirs, ['SENT', 'READ'])).toMatchObject({ status: 'SENT' });
    });

    it('fails when the window is closed', async () => {
      provider.windowClosedFor.add(customer);
      const message = await page.converse(customer);
      expect(await page.delivery(message, ['FAILED'])).toEqual({
        status: 'FAILED',
        error: {
          code: 'WINDOW_CLOSED',
          providerCode: '10/2018278',
          message: '(#10) This message is sent outside of allowed window.',
        },
      });
    });

    it('fails permanently when the customer can’t be reached', async () => {
      provider.unreachable.add(customer);
      const message = await page.converse(customer);
      expect(await page.delivery(message, ['FAILED'])).toMatchObject({
        error: { code: 'REFUSED', providerCode: '551/1545041' },
      });
      expect(provider.sendsTo(customer)).toHaveLength(1);
    });

    it('is retried after a failure of Messenger', async () => {
      provider.troubleNext(MetaSimulator.refusal(1200, 'Temporary send message failure.', { status: 500 }));
      const message = await page.converse(customer);
      await page.delivery(message, ['SENT']);
      expect(provider.sendsTo(customer)).toHaveLength(2);
      expect(sentTo(customer)).toHaveLength(1);
    });

    it('waits with all others of its page at the page’s limit', async () => {
      provider.troubleNext(MetaSimulator.refusal(613, 'Calls to this api have exceeded the rate limit.'));
      const message = await page.converse(customer);
      await waitFor('the page to be left alone', async () => {
        const [row] = await service.query(
          `SELECT 1 FROM channel_connections WHERE id = $1 AND paused_until > now() + interval '4 minutes'`,
          [page.connection.id],
        );
        return row;
      });
      const other = newCustomerId();
      const theirs = await page.converse(other);
      expect(provider.sendsTo(other)).toEqual([]);
      await page.hasten();
      for (const sent of [message, theirs]) await page.delivery(sent, ['SENT']);
    });

    it('fails while the token is invalid', async () => {
      provider.revokedTokens.add(page.accessToken);
      const message = await page.converse(customer);
      const { error } = await page.delivery(message, ['FAILED']);
      expect(error).toMatchObject({ code: 'REAUTH_REQUIRED', providerCode: '190' });
      expect(await page.status()).toBe('REAUTH_REQUIRED');
      const next = await page.send((await page.messagesWith(customer))[0]!.conversationId, 'Still there?');
      expect(await page.delivery(next, ['FAILED'])).toMatchObject({ error: { code: 'REAUTH_REQUIRED' } });
      expect(provider.sendsTo(customer)).toHaveLength(1);

      await page.renew('EAAanother');
      await page.delivery(await page.converse(customer), ['SENT']);
    });

    it('never keeps the token that Meta quotes in an error', async () => {
      provider.troubleNext(MetaSimulator.refusal(100, `Malformed access token ${page.accessToken}`));
      const message = await page.converse(customer);
      const { error } = await page.delivery(message, ['FAILED']);
      expect(error).toMatchObject({ code: 'REFUSED', message: '(#100) Malformed access token …' });
    });
  });

  describe('an outbound message without a response', () => {
    const lost = async () => {
      provider.troubleNext({ kind: 'reset' });
      const message = await page.converse(customer);
      const { error } = await page.delivery(message, ['UNKNOWN']);
      expect(error).toMatchObject({ code: 'OUTCOME_UNKNOWN' });
      expect(JSON.stringify(error)).not.toContain('TOKEN');
      return message;
    };

    it('is not sent again, and is recognized by its echo', async () => {
      const message = await lost();
      const [sent] = sentTo(customer);
      await page.notify(provider.echo(sent!));
      expect(await page.delivery(message, ['SENT'])).toEqual({ status: 'SENT', error: null });
      await page.notify(provider.delivered(page.accountId, customer, [sent!.mid]));
      await page.delivery(message, ['DELIVERED']);
      expect(provider.sendsTo(customer)).toHaveLength(1);
    });

    it('is not mistaken for the message of another app', async () => {
      const message = await lost();
      await page.notify(
        provider.echo({ ...sentTo(customer)[0]!, mid: 'm_inbox', text: 'From the inbox', metadata: 'x' }),
      );
      expect(await page.delivery(message, ['UNKNOWN', 'SENT'])).toMatchObject({ status: 'UNKNOWN' });
    });

    it('does not delay its conversation after the echo', async () => {
      const message = await lost();
      const { conversationId } = (await page.messagesWith(customer))[0]!;
      const next = await page.send(conversationId, 'And on Sundays from ten.');
      await page.notify(provider.echo(sentTo(customer)[0]!));
      await page.delivery(message, ['SENT']);
      await page.delivery(next, ['SENT']);
      expect(sentTo(customer).map(({ text }) => text)).toEqual(['Until six.', 'And on Sundays from ten.']);
    });
  });

  describe('a customer', () => {
    it('is stored with their message, but not with an echo', async () => {
      const stored = await page.write(customer, 'Opening hours? 👋');
      expect(stored).toMatchObject({ senderType: 'CUSTOMER', body: 'Opening hours? 👋', metadata: null });
      const message = await page.send(stored.conversationId, 'Until six.');
      await page.delivery(message, ['SENT']);
      await page.notify(provider.echo(sentTo(customer)[0]!));
      expect((await page.messagesWith(customer)).map(({ body }) => body)).toEqual([
        'Opening hours? 👋',
        'Until six.',
      ]);
    });

    it('is stored with content that is not text', async () => {
      const { accountId } = page;
      const attachments = [{ type: 'image', payload: { url: 'https://cdn.example/1' } }];
      await page.notify(
        provider.message(accountId, customer, '', { text: undefined, attachments }),
        provider.event(accountId, customer, { postback: { mid: 'm_p', title: 'Prices', payload: 'PRICES' } }),
        provider.event(accountId, customer, { optin: { ref: '1' } }),
      );
      expect(await page.messagesWith(customer)).toMatchObject([
        { body: '[image]', metadata: { attachments: [{ type: 'image', payload: {} }] } },
        { body: 'Prices', metadata: { postback: { payload: 'PRICES' } } },
      ]);
    });

    it('is stored once, even if events are repeated or out of order', async () => {
      const [first, second] = ['One', 'Two'].map((text) => provider.message(page.accountId, customer, text));
      await page.notify(second!);
      const answers = await Promise.all(
        [first!, second!, first!, second!].map((event) => page.notify(event)),
      );
      await page.notify(first!, second!);
      expect(answers).toEqual([200, 200, 200, 200]);
      const bodies = (await page.messagesWith(customer)).map(({ body }) => body);
      expect(bodies.toSorted()).toEqual(['One', 'Two']);
    });

    it('is stored only for a page whose own secret signed', async () => {
      const { appSecret } = page.hook;
      const sameApp = await MessagingChannel.connect(service, provider, 'MESSENGER', { appSecret });
      const otherApp = await MessagingChannel.connect(service, provider, 'MESSENGER');
      const events = [page, sameApp, otherApp].map(({ accountId }) =>
        provider.message(accountId, customer, `To ${accountId}`),
      );
      expect(await page.notify(...events)).toBe(200);
      expect(await page.messagesWith(customer)).toMatchObject([{ body: `To ${page.accountId}` }]);
      expect(await sameApp.messagesWith(customer)).toMatchObject([{ body: `To ${sameApp.accountId}` }]);
      expect(await otherApp.messagesWith(customer)).toEqual([]);
    });

    it.each([
      ['none', () => null],
      ["another app's", (body: string) => MetaSimulator.signature('other', body)],
      ["another body's", () => MetaSimulator.signature(page.hook.appSecret, '{}')],
      ['not even one', () => 'sha256='],
    ])('is not stored when the signature is %s', async (_, signatureOf) => {
      const body = JSON.stringify(provider.notification(provider.message(page.accountId, customer, 'Hi')));
      expect(await provider.notifyRaw(page.hook.url, body, signatureOf(body))).toBe(401);
      expect(await page.messagesWith(customer)).toEqual([]);
    });
  });
});
