import { ChannelConnectionsService } from '../../src/channels/connections/channel-connections.service';
import { SYSTEM } from '../../src/access/principal';
import { ChannelWorkspace } from '../support/channel-workspace';
import { TestService } from '../support/service';
import { TelegramSimulator } from '../support/simulators/telegram';

describe('Telegram', () => {
  let telegram: TelegramSimulator;
  let service: TestService;
  let shop: ChannelWorkspace;
  let token: string;
  let bots = 9_000_000;
  let people = 5_512_345;

  beforeAll(async () => {
    telegram = await new TelegramSimulator().start();
    service = await TestService.create({
      role: 'all',
      env: { TELEGRAM_API_URL: telegram.url, PUBLIC_URL: 'https://messaging.example.com/' },
    });
    telegram.hookOrigin = service.baseUrl;
  });
  beforeEach(async () => {
    token = TelegramSimulator.token(++bots);
    shop = await ChannelWorkspace.connect(service, 'TELEGRAM', { botToken: token });
  });
  afterEach(() => telegram.recover());

  async function chat() {
    const chatId = ++people;
    expect(await telegram.write(token, chatId, 'Is it in stock?')).toBe(200);
    return { chatId, conversation: await shop.conversationWith(String(chatId)) };
  }

  describe('is connected', () => {
    const connect = async (botToken: string) => {
      const workspace = await service.make.workspace();
      const connections = service.app.get(ChannelConnectionsService);
      const input = { channel: 'TELEGRAM' as const, credentials: { botToken } };
      const outcome = await connections.connect(workspace.id, input, SYSTEM).catch((error: Error) => error);
      return { outcome, kept: await connections.list(workspace.id, SYSTEM) };
    };

    it('by a bot token that Telegram accepts, and registers the hook', () => {
      const { hookUrl, externalId } = shop.connection;
      expect(hookUrl).toMatch(/^https:\/\/messaging\.example\.com\/channels\/telegram\/[0-9A-Za-z]{32}$/);
      expect(externalId).toBe(String(bots));
      const asked = telegram.calls.filter(({ path }) => path.startsWith(`/bot${token}/`));
      expect(asked.map(({ path }) => path.split('/').at(-1))).toEqual(['getMe', 'setWebhook']);
      expect(asked[1]!.body).toEqual({
        url: hookUrl,
        secret_token: expect.stringMatching(/^[\w-]{43}$/),
        allowed_updates: ['message', 'edited_message', 'message_reaction'],
      });
    });

    it('not by a token that is unknown to Telegram', async () => {
      const revoked = TelegramSimulator.token(++bots);
      telegram.revokedTokens.add(revoked);
      const { outcome, kept } = await connect(revoked);
      expect(outcome).toMatchObject({
        code: 'INVALID_BODY',
        message: 'credentials were refused by Telegram: Unauthorized.',
      });
      expect(kept).toEqual([]);
    });

    it('not by text that is no token', async () => {
      const { outcome } = await connect('https://t.me/my_bot');
      expect(outcome).toMatchObject({ code: 'INVALID_BODY', details: [{ field: 'botToken' }] });
    });
  });

  describe('sends an outbound message', () => {
    it('in the documented form, and stays at SENT', async () => {
      const { chatId, conversation } = await chat();
      const message = await shop.send(conversation, 'Yes — 3 left 🎉\nShall we keep one for you?');
      expect(await shop.delivered(message, 'SENT')).toEqual({ status: 'SENT', error: null });
      expect(telegram.sendsTo(chatId)).toEqual([
        expect.objectContaining({
          method: 'POST',
          path: `/bot${token}/sendMessage`,
          query: {},
          headers: expect.objectContaining({ 'content-type': 'application/json' }),
          body: { chat_id: chatId, text: 'Yes — 3 left 🎉\nShall we keep one for you?' },
        }),
      ]);
    });

    it('again after 5xx', async () => {
      const { chatId, conversation } = await chat();
      telegram.troubleNext(TelegramSimulator.refusal(502, 'Bad Gateway'));
      const message = await shop.send(conversation);
      const { pausedFor } = await shop.waitForRetry(message);
      expect(pausedFor).toBeNull();
      const fault = { code: 'RETRYING', providerCode: '502', message: 'Bad Gateway' };
      expect(await shop.delivery(message)).toEqual({ status: 'SENDING', error: fault });
      await shop.delivered(message, 'SENT');
      expect((await shop.delivery(message)).error).toBeNull();
      expect(telegram.sendsTo(chatId)).toHaveLength(2);
    });

    it('again when Telegram could not be reached', async () => {
      const { chatId, conversation } = await chat();
      const port = Number(new URL(telegram.url).port);
      await telegram.stop();
      const message = await shop.send(conversation);
      await shop.waitForRetry(message).finally(() => telegram.start(port));
      await shop.delivered(message, 'SENT');
      expect(telegram.sendsTo(chatId)).toHaveLength(1);
    });

    it('after the delay that Telegram asks for, like all messages of the bot', async () => {
      const [first, second] = [await chat(), await chat()];
      telegram.troubleNext(TelegramSimulator.tooManyRequests(60));
      const message = await shop.send(first.conversation);
      const { retryIn, pausedFor } = await shop.waitForRetry(message);
      expect(retryIn).toBeGreaterThan(50);
      expect(pausedFor).toBeGreaterThan(50);
      const other = await shop.send(second.conversation);
      await shop.hasten();
      await shop.delivered(message, 'SENT');
      await shop.delivered(other, 'SENT');
      expect(telegram.sendsTo(first.chatId)).toHaveLength(2);
      expect(telegram.sendsTo(second.chatId)).toHaveLength(1);
    });

    it.each<[string, (chatId: number) => void, object]>([
      [
        'the person has blocked the bot',
        (chatId) => telegram.blockedBy.add(chatId),
        { providerCode: '403', message: 'Forbidden: bot was blocked by the user' },
      ],
      [
        'there is no such chat',
        (chatId) => telegram.unknownChats.add(chatId),
        { providerCode: '400', message: 'Bad Request: chat not found' },
      ],
    ])('once, and never again, when %s', async (_, arrange, error) => {
      const { chatId, conversation } = await chat();
      arrange(chatId);
      const message = await shop.send(conversation);
      expect(await shop.delivered(message, 'FAILED')).toEqual({
        status: 'FAILED',
        error: { code: 'REFUSED', ...error },
      });
      expect(telegram.sendsTo(chatId)).toHaveLength(1);
    });

    it('never to an identity that is no Telegram id', async () => {
      const contact = await service.make.contact(shop.tenant.workspace);
      const conversation = await service.make.conversation(shop.tenant.workspace, {
        channel: 'TELEGRAM',
        contactId: contact.id,
      });
      const without = await shop.send(conversation);
      expect(await shop.delivered(without, 'FAILED')).toMatchObject({ error: { code: 'NO_RECIPIENT' } });
      await service.query(`INSERT INTO contact_identities VALUES ($1, 'TELEGRAM', '@ana', $2, now())`, [
        shop.tenant.workspace.id,
        contact.id,
      ]);
      const misnamed = await shop.send(conversation);
      expect(await shop.delivered(misnamed, 'FAILED')).toMatchObject({
        error: { code: 'REFUSED', providerCode: null },
      });
    });

    it('not while the token is revoked', async () => {
      const { chatId, conversation } = await chat();
      telegram.revokedTokens.add(token);
      const message = await shop.send(conversation);
      expect(await shop.delivered(message, 'FAILED')).toEqual({
        status: 'FAILED',
        error: { code: 'REAUTH_REQUIRED', providerCode: '401', message: 'Unauthorized' },
      });
      expect(await shop.status()).toBe('REAUTH_REQUIRED');
      expect((await shop.audit())[0]).toMatchObject({
        action: 'channel_connection.reauth_required',
        metadata: { channel: 'TELEGRAM', externalId: String(bots) },
      });
      const next = await shop.send(conversation);
      await shop.delivered(next, 'FAILED');
      expect(telegram.sendsTo(chatId)).toHaveLength(1);

      await shop.rotate({ botToken: token.replace(':AA', ':BB') });
      const last = await shop.send(conversation, 'Back again');
      await shop.delivered(last, 'SENT');
      expect(telegram.sent.filter((sent) => sent.chatId === chatId)).toMatchObject([
        { text: 'Back again', botToken: token.replace(':AA', ':BB') },
      ]);
    });

    it('never twice when the connection was lost, and continues with the next', async () => {
      const { chatId, conversation } = await chat();
      telegram.troubleNext({ kind: 'reset' });
      const message = await shop.send(conversation, 'first');
      expect(await shop.delivered(message, 'UNKNOWN')).toMatchObject({
        error: { code: 'OUTCOME_UNKNOWN', providerCode: null },
      });
      const next = await shop.send(conversation, 'second');
      await shop.delivered(next, 'SENT');
      expect(telegram.sendsTo(chatId).map(({ body }) => body.text)).toEqual(['first', 'second']);
      expect((await shop.delivery(message)).status).toBe('UNKNOWN');
    });

    it('never twice when the response times out', async () => {
      const { chatId, conversation } = await chat();
      telegram.troubleNext({ kind: 'slow' });
      const message = await shop.send(conversation);
      expect(await shop.delivered(message, 'UNKNOWN', 20_000)).toMatchObject({
        error: { code: 'OUTCOME_UNKNOWN' },
      });
      expect(telegram.sendsTo(chatId)).toHaveLength(1);
    });
  });

  describe('stores', () => {
    it('a person’s message, and sends the response to them', async () => {
      const { chatId, conversation } = await chat();
      expect(conversation.contact).toMatchObject({
        name: 'Ana',
        phone: null,
        identities: [{ channel: 'TELEGRAM', externalId: String(chatId) }],
      });
      await shop.delivered(await shop.send(conversation, 'Yes'), 'SENT');
      await telegram.write(token, chatId, 'Great');
      expect(await shop.bodiesOf(conversation)).toEqual(['Is it in stock?', 'Yes', 'Great']);
    });

    it('each message once, even if updates are repeated or out of order', async () => {
      const { chatId, conversation } = await chat();
      const updates = ['one', 'two', 'three'].map((text) => telegram.textUpdate(chatId, text));
      const arrivals = [...updates, ...updates.toReversed(), ...updates];
      const statuses = await Promise.all(arrivals.map((update) => telegram.deliver(token, update)));
      expect(statuses).toEqual(arrivals.map(() => 200));
      const bodies = await shop.bodiesOf(conversation);
      expect(bodies.toSorted()).toEqual(['Is it in stock?', 'one', 'three', 'two']);
    });

    it.each([
      ['[image] Like this one', { photo: [{ file_id: 'p', width: 90 }], caption: 'Like this one' }],
      ['[location] 40.4, -3.7', { location: { latitude: 40.4, longitude: -3.7 } }],
    ])('a description of other kinds: %s', async (body, message) => {
      const { chatId, conversation } = await chat();
      expect(await telegram.deliver(token, telegram.update(chatId, message))).toBe(200);
      expect((await shop.bodiesOf(conversation)).at(-1)).toBe(body);
    });

    it.each([
      ['groups', { chat: { id: -100, type: 'supergroup', title: 'Friends' } }],
      ['bots', { from: { id: 1, is_bot: true, first_name: 'Bot' } }],
    ])('nothing from %s', async (_, message) => {
      const { chatId, conversation } = await chat();
      expect(await telegram.deliver(token, telegram.textUpdate(chatId, 'Psst', message))).toBe(200);
      expect(await shop.bodiesOf(conversation)).toEqual(['Is it in stock?']);
      expect(await shop.conversationsWith('-100')).toEqual([]);
    });

    it('nothing without the registered secret', async () => {
      const { chatId, conversation } = await chat();
      const update = telegram.textUpdate(chatId, 'Forged');
      expect(await telegram.deliver(token, update, 'x'.repeat(43))).toBe(401);
      expect(await shop.bodiesOf(conversation)).toEqual(['Is it in stock?']);
    });
  });
});
