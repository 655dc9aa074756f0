import { ChannelConnectionsService } from '../../src/channels/connections/channel-connections.service';
import { SYSTEM } from '../../src/access/principal';
import { ChannelWorkspace } from '../support/channel-workspace';
import { TestService } from '../support/service';
import { MetaSimulator } from '../support/simulators/meta-simulator';
import { WhatsAppSent, WhatsAppSimulator } from '../support/simulators/whatsapp';
import { waitFor } from '../support/wait';

const APP_SECRET = '0123456789abcdef0123456789abcdef';
const ACCESS_TOKEN = 'EAAGsimulatedToken';

describe('WhatsApp', () => {
  let whatsapp: WhatsAppSimulator;
  let service: TestService;
  let shop: ChannelWorkspace;
  let phoneNumberId: string;
  let numbers = 106_540_352_242_922;
  let people = 16_505_551_234;

  beforeAll(async () => {
    whatsapp = await new WhatsAppSimulator().start();
    service = await TestService.create({ role: 'all', env: { META_GRAPH_URL: whatsapp.url } });
    whatsapp.hookOrigin = service.baseUrl;
  });
  beforeEach(async () => {
    phoneNumberId = String(++numbers);
    shop = await ChannelWorkspace.connect(service, 'WHATSAPP', credentials());
  });
  afterEach(() => whatsapp.recover());

  const credentials = (more: object = {}) => ({
    phoneNumberId,
    accessToken: ACCESS_TOKEN,
    appSecret: APP_SECRET,
    ...more,
  });
  const hook = (appSecret = APP_SECRET) => ({ url: shop.connection.hookUrl, appSecret });
  const notify = (content: Parameters<WhatsAppSimulator['notification']>[1]) =>
    whatsapp.notify(hook(), whatsapp.notification(phoneNumberId, content));

  async function chat() {
    const customer = String(++people);
    const messages = [whatsapp.message(customer, 'Does it come in another color?')];
    expect(await notify({ messages })).toBe(200);
    return { customer, conversation: await shop.conversationWith(customer) };
  }

  /** Makes a conversation with an agent's message that WhatsApp has accepted. */
  async function answered() {
    const { customer, conversation } = await chat();
    const message = await shop.send(conversation);
    await shop.delivered(message, 'SENT');
    return { customer, conversation, message, sent: sentTo(customer) };
  }

  function sentTo(customer: string): WhatsAppSent {
    return whatsapp.sent.findLast(({ to }) => to === customer)!;
  }

  describe('is connected', () => {
    const connect = async (given: object) => {
      const workspace = await service.make.workspace();
      const connections = service.app.get(ChannelConnectionsService);
      const input = { channel: 'WHATSAPP' as const, credentials: given };
      const outcome = await connections.connect(workspace.id, input, SYSTEM).catch((error: Error) => error);
      return { outcome, kept: await connections.list(workspace.id, SYSTEM) };
    };

    it('when Meta accepts the token', () => {
      expect(whatsapp.calls.filter(({ path }) => path.endsWith(`/${phoneNumberId}`))).toEqual([
        expect.objectContaining({
          method: 'GET',
          path: `/v25.0/${phoneNumberId}`,
          query: {},
          headers: expect.objectContaining({ authorization: `Bearer ${ACCESS_TOKEN}` }),
        }),
      ]);
    });

    it('not with a token that Meta refuses', async () => {
      whatsapp.revokedTokens.add('EAAGrevoked');
      const other = { phoneNumberId: String(++numbers), accessToken: 'EAAGrevoked' };
      const { outcome, kept } = await connect(credentials(other));
      expect(outcome).toMatchObject({
        code: 'INVALID_BODY',
        message: expect.stringContaining('were refused by Meta: (#190) Error validating access token'),
      });
      expect(kept).toEqual([]);
    });

    it('not without the app secret', async () => {
      const { outcome } = await connect(credentials({ appSecret: undefined }));
      expect(outcome).toMatchObject({ details: [{ field: 'appSecret', message: 'is required' }] });
    });

    it('not with an empty token', async () => {
      const { outcome } = await connect(credentials({ accessToken: '' }));
      expect(outcome).toMatchObject({ message: 'accessToken must not be empty.' });
    });

    it('not with a token that ends in a line break', async () => {
      const { outcome } = await connect(credentials({ accessToken: `${ACCESS_TOKEN}\n` }));
      expect(outcome).toMatchObject({ code: 'INVALID_BODY', details: [{ field: 'accessToken' }] });
    });

    it("to Meta's app by the revealed verify token", async () => {
      const { hookUrl, reveal } = shop.connection;
      const { verifyToken } = reveal as { verifyToken: string };
      expect(await whatsapp.handshake(hookUrl, verifyToken)).toEqual({ status: 200, body: '1158201444' });
      expect(await whatsapp.handshake(hookUrl, 'guessed')).toMatchObject({ status: 403 });
    });
  });

  describe('sends an outbound message', () => {
    it('in the documented form', async () => {
      const { customer, conversation } = await chat();
      const message = await shop.send(conversation, 'Yes, in blue 💙');
      expect(await shop.delivered(message, 'SENT')).toEqual({ status: 'SENT', error: null });
      expect(whatsapp.sendsTo(customer)).toEqual([
        expect.objectContaining({
          method: 'POST',
          path: `/v25.0/${phoneNumberId}/messages`,
          query: {},
          headers: expect.objectContaining({
            authorization: `Bearer ${ACCESS_TOKEN}`,
            'content-type': 'application/json',
          }),
          body: {
            messaging_product: 'whatsapp',
            recipient_type: 'individual',
            to: customer,
            type: 'text',
            text: { preview_url: false, body: 'Yes, in blue 💙' },
            biz_opaque_callback_data: message.id,
          },
        }),
      ]);
    });

    it('to a customer who hides their phone number', async () => {
      const customer = 'US.13491208655302741918';
      const message = whatsapp.message(customer, 'Hi', { from: undefined, from_user_id: customer });
      await notify({ messages: [message] });
      const conversation = await shop.conversationWith(customer);
      expect(conversation.contact.phone).toBeNull();
      await shop.delivered(await shop.send(conversation), 'SENT');
      const [call] = whatsapp.sendsTo(customer);
      expect(call!.body).toMatchObject({ recipient: customer });
      expect(call!.body).not.toHaveProperty('to');
    });

    it.each([
      ['2', MetaSimulator.refusal(2, 'Service temporarily unavailable', { status: 500 }), 0, false],
      ['130429', MetaSimulator.refusal(130_429, 'Rate limit hit'), 0, true],
      ['131056', MetaSimulator.refusal(131_056, 'Pair rate limit hit'), 10, false],
      ['131048', MetaSimulator.refusal(131_048, 'Spam rate limit hit'), 290, true],
    ])('again after %s', async (_, trouble, atLeast, isConnections) => {
      const { customer, conversation } = await chat();
      whatsapp.troubleNext(trouble);
      const message = await shop.send(conversation);
      const { retryIn, pausedFor } = await shop.waitForRetry(message);
      expect(retryIn).toBeGreaterThan(atLeast);
      expect(pausedFor !== null).toBe(isConnections);
      await shop.hasten();
      await shop.delivered(message, 'SENT');
      expect(whatsapp.sendsTo(customer)).toHaveLength(2);
    });

    it('only once to a customer who cannot be reached', async () => {
      const { customer, conversation } = await chat();
      whatsapp.unreachable.add(customer);
      const message = await shop.send(conversation);
      expect(await shop.delivered(message, 'FAILED')).toEqual({
        status: 'FAILED',
        error: { code: 'REFUSED', providerCode: '131026', message: '(#131026) Message undeliverable' },
      });
      expect(whatsapp.sendsTo(customer)).toHaveLength(1);
    });

    it('not outside the 24-hour window, until the customer writes', async () => {
      const { customer, conversation } = await chat();
      whatsapp.windowClosedFor.add(customer);
      const message = await shop.send(conversation);
      expect(await shop.delivered(message, 'FAILED')).toEqual({
        status: 'FAILED',
        error: {
          code: 'WINDOW_CLOSED',
          providerCode: '131047',
          message: expect.stringContaining('More than 24 hours have passed'),
        },
      });
      whatsapp.windowClosedFor.delete(customer);
      await notify({ messages: [whatsapp.message(customer, 'Hello again')] });
      await shop.delivered(await shop.send(conversation), 'SENT');
      expect((await shop.delivery(message)).status).toBe('FAILED');
    });

    it('not while the token is revoked', async () => {
      const { customer, conversation } = await chat();
      whatsapp.troubleNext(
        MetaSimulator.refusal(190, `Malformed access token ${ACCESS_TOKEN}`, { status: 401 }),
      );
      const message = await shop.send(conversation);
      const { error } = await shop.delivered(message, 'FAILED');
      expect(error).toMatchObject({ code: 'REAUTH_REQUIRED', providerCode: '190' });
      expect(error.message).not.toContain(ACCESS_TOKEN);
      expect(await shop.status()).toBe('REAUTH_REQUIRED');
      expect((await shop.audit())[0]).toMatchObject({ action: 'channel_connection.reauth_required' });
      await shop.delivered(await shop.send(conversation), 'FAILED');
      expect(whatsapp.sendsTo(customer)).toHaveLength(1);

      const { verifyToken } = (await shop.rotate(credentials({ accessToken: 'EAAGanother' }))).reveal;
      expect(verifyToken).toBe(shop.connection.reveal.verifyToken);
      await shop.delivered(await shop.send(conversation), 'SENT');
      expect(whatsapp.sendsTo(customer).at(-1)!.headers.authorization).toBe('Bearer EAAGanother');
    });
  });

  describe('applies receipts', () => {
    it('of sent, delivered, read', async () => {
      const { message, sent } = await answered();
      for (const [status, expected] of [
        ['sent', 'SENT'],
        ['delivered', 'DELIVERED'],
        ['read', 'READ'],
      ] as const) {
        expect(await notify({ statuses: [whatsapp.status(sent, status)] })).toBe(200);
        expect(await shop.delivery(message)).toEqual({ status: expected, error: null });
      }
    });

    it('in any order, and repeatedly', async () => {
      const { message, sent } = await answered();
      for (const status of ['read', 'delivered', 'sent', 'read', 'delivered'] as const) {
        expect(await notify({ statuses: [whatsapp.status(sent, status)] })).toBe(200);
      }
      expect((await shop.delivery(message)).status).toBe('READ');
    });

    it('concurrently', async () => {
      const { message, sent } = await answered();
      const statuses = (['delivered', 'sent', 'read'] as const).map((status) =>
        whatsapp.status(sent, status),
      );
      await Promise.all([...statuses, ...statuses].map((status) => notify({ statuses: [status] })));
      expect((await shop.delivery(message)).status).toBe('READ');
    });

    it.each([
      [131_047, 'Re-engagement message', 'WINDOW_CLOSED'],
      [131_026, 'Message undeliverable', 'REFUSED'],
    ])('refused after all: %i', async (code, title, expected) => {
      const { message, sent } = await answered();
      const error = { code, title, message: title, error_data: { details: 'So it is.' } };
      await notify({ statuses: [whatsapp.status(sent, 'failed', error)] });
      expect(await shop.delivery(message)).toEqual({
        status: 'FAILED',
        error: { code: expected, providerCode: String(code), message: `${title}: So it is.` },
      });
    });

    it('that arrive before the response', async () => {
      const { customer, conversation } = await chat();
      whatsapp.troubleNext({ kind: 'slow', ms: 500 });
      const message = await shop.send(conversation);
      const sent = await waitFor('a message', () => sentTo(customer));
      await notify({ statuses: [whatsapp.status({ ...sent, ownId: undefined }, 'delivered')] });
      await shop.delivered(message, 'DELIVERED');
    });

    it('only in their own workspace', async () => {
      const { message, sent } = await answered();
      const mine = { phoneNumberId, shop };
      phoneNumberId = String(++numbers);
      shop = await ChannelWorkspace.connect(service, 'WHATSAPP', credentials());
      await notify({ statuses: [whatsapp.status(sent, 'read')] });
      expect((await mine.shop.delivery(message)).status).toBe('SENT');
    });
  });

  describe('when the outcome of a message is unknown', () => {
    it('waits for its status before it sends the next one', async () => {
      const { customer, conversation } = await chat();
      whatsapp.troubleNext({ kind: 'reset' });
      const first = await shop.send(conversation, 'first');
      expect(await shop.delivered(first, 'UNKNOWN')).toMatchObject({ error: { code: 'OUTCOME_UNKNOWN' } });
      const second = await shop.send(conversation, 'second');
      await shop.delivered(await shop.send((await chat()).conversation), 'SENT');
      expect((await shop.delivery(second)).status).toBe('QUEUED');

      await notify({ statuses: [whatsapp.status(sentTo(customer), 'delivered')] });
      expect(await shop.delivery(first)).toEqual({ status: 'DELIVERED', error: null });
      await shop.delivered(second, 'SENT');
      expect(whatsapp.sendsTo(customer).map(({ body }) => body.text.body)).toEqual(['first', 'second']);
    });
  });

  describe('stores', () => {
    it('a customer’s message', async () => {
      const customer = String(++people);
      await notify({ messages: [whatsapp.message(customer, '¿Lo tenéis en azul? 💙')], name: 'Zoë Núñez' });
      const conversation = await shop.conversationWith(customer);
      expect(conversation).toMatchObject({
        sourceChannel: 'WHATSAPP',
        status: 'OPEN',
        lastMessagePreview: '¿Lo tenéis en azul? 💙',
        contact: {
          name: 'Zoë Núñez',
          phone: `+${customer}`,
          identities: [{ channel: 'WHATSAPP', externalId: customer }],
        },
      });
    });

    it('all events of a notification', async () => {
      const [ana, bea] = [String(++people), String(++people)];
      const { sent, message } = await answered();
      const notification = WhatsAppSimulator.envelope([
        whatsapp.change(phoneNumberId, {
          messages: [whatsapp.message(ana, 'one'), whatsapp.message(ana, 'two')],
          name: 'Ana',
        }),
        { field: 'account_update', value: { event: 'VERIFIED_ACCOUNT' } },
        whatsapp.change(phoneNumberId, { messages: [whatsapp.message(bea, 'three')], name: 'Bea' }),
        whatsapp.change(phoneNumberId, { statuses: [whatsapp.status(sent, 'read')] }),
      ]);
      expect(await whatsapp.notify(hook(), notification)).toBe(200);
      expect(await shop.bodiesOf(await shop.conversationWith(ana))).toEqual(['one', 'two']);
      expect(await shop.bodiesOf(await shop.conversationWith(bea))).toEqual(['three']);
      expect((await shop.delivery(message)).status).toBe('READ');
    });

    it('each message once, even if notifications are repeated or out of order', async () => {
      const { customer, conversation } = await chat();
      const messages = ['one', 'two', 'three'].map((text) => whatsapp.message(customer, text));
      const arrivals = [...messages, ...messages.toReversed(), ...messages];
      const statuses = await Promise.all(arrivals.map((message) => notify({ messages: [message] })));
      expect(statuses).toEqual(arrivals.map(() => 200));
      expect(await notify({ messages })).toBe(200);
      expect((await shop.bodiesOf(conversation)).slice(1).toSorted()).toEqual(['one', 'three', 'two']);
    });

    it('nothing of a group (public report 9)', async () => {
      const { customer, conversation } = await chat();
      const [participant, group_id] = [String(++people), 'Y2FwaV9ncm91cDo'];
      const reaction = { type: 'reaction', reaction: { message_id: 'wamid.X', emoji: '👍' } };
      const messages = [
        whatsapp.message(participant, 'hello group', { group_id }),
        whatsapp.message(customer, 'hello group', { group_id }),
        whatsapp.message(customer, '', { text: undefined, group_id, ...reaction }),
      ];
      expect(await notify({ messages })).toBe(200);
      expect(await shop.conversationsWith(participant)).toEqual([]);
      expect(await shop.bodiesOf(conversation)).toEqual(['Does it come in another color?']);
    });

    it('nothing of a system message, which opens nothing (netflie#120)', async () => {
      const { customer, conversation } = await chat();
      const bodies = await shop.bodiesOf(conversation);
      await shop.tenant.client.patch(`/conversations/${conversation.id}`, { status: 'CLOSED' });
      const system = { type: 'customer_identity_changed', body: '', identity: 'key', customer };
      const message = whatsapp.message(customer, '', { text: undefined, type: 'system', system });
      expect(await notify({ messages: [message] })).toBe(200);
      expect(await shop.bodiesOf(conversation)).toEqual(bodies);
      expect(await shop.conversationWith(customer)).toMatchObject({ status: 'CLOSED' });
    });

    it('what a message has beside its text, and a message that cannot be seen', async () => {
      const { customer, conversation } = await chat();
      const contacts = [{ name: { formatted_name: 'Bea Sanz' }, phones: [{ phone: '+34 600 22 33 44' }] }];
      const card = whatsapp.message(customer, '', { text: undefined, type: 'contacts', contacts });
      const invisible = whatsapp.message(`+${customer}`, '\u200b\u2800');
      expect(await notify({ messages: [card, invisible] })).toBe(200);
      expect((await shop.bodiesOf(conversation)).slice(1)).toEqual([
        '[contact] Bea Sanz, +34 600 22 33 44',
        '[empty message]',
      ]);
    });

    it.each([{}, { emoji: '' }])('nothing of a reaction taken back (public report 8): %j', async (none) => {
      const { customer, conversation } = await chat();
      const react = (emoji: object) => {
        const reaction = { message_id: 'wamid.X', ...emoji };
        return notify({
          messages: [whatsapp.message(customer, '', { text: undefined, type: 'reaction', reaction })],
        });
      };
      expect(await react({ emoji: '😮' })).toBe(200);
      const bodies = await shop.bodiesOf(conversation);
      await shop.tenant.client.patch(`/conversations/${conversation.id}`, { status: 'CLOSED' });
      expect(await react(none)).toBe(200);
      expect(await shop.bodiesOf(conversation)).toEqual(bodies);
      expect(await shop.conversationWith(customer)).toMatchObject({ status: 'CLOSED' });
    });

    it.each([
      ['[image] Like this one', { type: 'image', image: { id: '1', caption: 'Like this one' } }],
      [
        '[location] Prado',
        { type: 'location', location: { latitude: 40.4, longitude: -3.7, name: 'Prado' } },
      ],
      ['[reaction] 👍', { type: 'reaction', reaction: { message_id: 'wamid.0', emoji: '👍' } }],
      ['Blue', { type: 'interactive', interactive: { list_reply: { id: 'blue', title: 'Blue' } } }],
      ['[hologram]', { type: 'hologram', hologram: {} }],
    ])('a description of other kinds: %s', async (body, content) => {
      const { customer, conversation } = await chat();
      const message = whatsapp.message(customer, '', { text: undefined, ...content });
      expect(await notify({ messages: [message] })).toBe(200);
      expect((await shop.bodiesOf(conversation)).at(-1)).toBe(body);
      const [row] = await service.query(
        'SELECT metadata FROM messages WHERE conversation_id = $1 ORDER BY id DESC LIMIT 1',
        [conversation.id],
      );
      expect(row).toMatchObject({ metadata: content });
    });

    it.each<[string, (body: string) => string | null]>([
      ['no signature', () => null],
      ["another app's", (body) => MetaSimulator.signature('another secret', body)],
      ['one over other bytes', (body) => MetaSimulator.signature(APP_SECRET, `${body} `)],
      ['one of the old kind', (body) => MetaSimulator.signature(APP_SECRET, body).replace('sha256', 'sha1')],
    ])('nothing with %s', async (_, sign) => {
      const customer = String(++people);
      const messages = [whatsapp.message(customer, 'Forged')];
      const body = JSON.stringify(whatsapp.notification(phoneNumberId, { messages }));
      expect(await whatsapp.notifyRaw(hook().url, body, sign(body))).toBe(401);
      expect(await shop.conversationsWith(customer)).toEqual([]);
    });

    it("events of another workspace only if that one's own secret signed", async () => {
      const mine = { shop, phoneNumberId };
      phoneNumberId = String(++numbers);
      const other = await ChannelWorkspace.connect(service, 'WHATSAPP', credentials({ appSecret: 'theirs' }));
      const customer = String(++people);
      const forOther = whatsapp.notification(phoneNumberId, { messages: [whatsapp.message(customer, 'Hi')] });
      expect(await whatsapp.notify(hook(), forOther)).toBe(200);
      expect(await other.conversationsWith(customer)).toEqual([]);
      expect(await mine.shop.conversationsWith(customer)).toEqual([]);
    });

    it('events of all workspaces behind one app, at any of their hooks', async () => {
      phoneNumberId = String(++numbers);
      const other = await ChannelWorkspace.connect(service, 'WHATSAPP', credentials());
      const customer = String(++people);
      expect(await notify({ messages: [whatsapp.message(customer, 'Hi')] })).toBe(200);
      expect(await other.conversationsWith(customer)).toHaveLength(1);
      expect(await shop.conversationsWith(customer)).toEqual([]);
    });
  });
});
