import { Client } from 'pg';
import { newId } from '../../src/common/ids';
import { SYSTEM } from '../../src/access/principal';
import { ChannelConnectionsService } from '../../src/channels/connections/channel-connections.service';
import { Database } from '../../src/database/database';
import { ContactsService } from '../../src/contacts/contacts.service';
import { WorkspaceEntity } from '../../src/workspaces/workspace.entity';
import { ChannelWorkspace } from '../support/channel-workspace';
import { countedInRedis } from '../support/counted-in-redis';
import { errorBody } from '../support/errors';
import { eventsOf } from '../support/events';
import { RawConnection } from '../support/raw-connection';
import { TestService } from '../support/service';
import { countFalseClasses, FALSE_CLASS, RESERVED_KEYS } from '../support/reserved-keys';
import { MetaHook, MetaSimulator } from '../support/simulators/meta-simulator';
import { TelegramSimulator } from '../support/simulators/telegram';
import { WhatsAppSimulator } from '../support/simulators/whatsapp';
import { TcpProxy } from '../support/tcp-proxy';
import { waitFor } from '../support/wait';

const SECRET_HEADER = 'x-telegram-bot-api-secret-token';
const MEBIBYTE = 1024 * 1024;
const UNSIGNED = 'The request is not signed as it must be.';

describe('hooks', () => {
  let telegram: TelegramSimulator;
  let service: TestService;
  let shop: ChannelWorkspace;
  let token: string;
  let bots = 8_000_000;
  let people = 100;

  beforeAll(async () => {
    telegram = await new TelegramSimulator().start();
    service = await TestService.create({ env: { TELEGRAM_API_URL: telegram.url } });
    telegram.hookOrigin = service.baseUrl;
    ({ shop, token } = await connect());
  });
  afterAll(async () => {
    await service.close();
    await telegram.stop();
  });

  async function connect(): Promise<{ shop: ChannelWorkspace; token: string }> {
    const botToken = TelegramSimulator.token(bots++);
    return { shop: await ChannelWorkspace.connect(service, 'TELEGRAM', { botToken }), token: botToken };
  }

  async function customer(): Promise<{ chatId: number; conversation: { id: string } }> {
    const chatId = people++;
    expect(await telegram.write(token, chatId, 'Hello?')).toBe(200);
    const conversation = await shop.conversationWith(String(chatId));
    return { chatId, conversation };
  }

  const hookPath = () => new URL(telegram.webhooks.get(token)!.url).pathname;
  const signed = () => ({ [SECRET_HEADER]: telegram.webhooks.get(token)!.secret_token! });
  const post = (path: string, headers: Record<string, string>, raw: string | Buffer) =>
    service.client.send({ method: 'POST', path, headers, raw });

  it('create a contact, a conversation and a message, with their events', async () => {
    const chatId = people++;
    expect(await telegram.write(token, chatId, 'Is it in stock?')).toBe(200);

    const conversations = await shop.conversationsWith(String(chatId));
    expect(conversations).toEqual([
      expect.objectContaining({
        sourceChannel: 'TELEGRAM',
        status: 'OPEN',
        lastMessagePreview: 'Is it in stock?',
        contact: expect.objectContaining({
          name: 'Ana',
          identities: [{ channel: 'TELEGRAM', externalId: String(chatId) }],
        }),
      }),
    ]);
    const messages = await shop.tenant.client.all(`/conversations/${conversations[0].id}/messages`, 200);
    expect(messages).toEqual([
      expect.objectContaining({ senderType: 'CUSTOMER', senderAgentId: null, body: 'Is it in stock?' }),
    ]);
    const events = await eventsOf(service, shop.workspace, 'message.created');
    const { id, body, senderType, createdAt } = messages[0];
    expect(events).toContainEqual({
      conversationId: conversations[0].id,
      message: { id, body, senderType, createdAt },
    });
  });

  it('continue the same conversation', async () => {
    const { chatId, conversation } = await customer();
    await telegram.write(token, chatId, 'Anybody there?');
    expect(await shop.conversationsWith(String(chatId))).toHaveLength(1);
    expect(await shop.bodiesOf(conversation)).toEqual(['Hello?', 'Anybody there?']);
  });

  it.each(['CLOSED', 'SNOOZED'])('reopen a conversation that was %s', async (status) => {
    const { chatId, conversation } = await customer();
    await shop.tenant.client.patch(`/conversations/${conversation.id}`, { status });
    await telegram.write(token, chatId, 'One more thing');
    expect(await shop.conversationsWith(String(chatId))).toEqual([
      expect.objectContaining({ id: conversation.id, status: 'OPEN' }),
    ]);
    const events = await eventsOf(service, shop.workspace, 'conversation.updated');
    expect(events.filter(({ conversationId }) => conversationId === conversation.id)).toEqual([
      { conversationId: conversation.id, status },
      { conversationId: conversation.id, status: 'OPEN' },
    ]);
  });

  it('continue a conversation that an agent began with a known customer', async () => {
    const { chatId, conversation } = await customer();
    const known = await shop.tenant.client.get(`/conversations/${conversation.id}`);
    const begun = await service.make.conversation(shop.workspace, {
      contactId: known.body.contact.id,
      channel: 'TELEGRAM',
    });
    await telegram.write(token, chatId, 'Here?');
    expect(await shop.bodiesOf(begun)).toEqual(['Here?']);
  });

  it('lose no event for bytes that are not UTF-8 (public report 29)', async () => {
    const chatId = people++;
    const update = JSON.stringify(telegram.textUpdate(chatId, 'Gr\u00fc\u00dfe'));
    expect((await post(hookPath(), signed(), Buffer.from(update, 'latin1'))).status).toBe(200);
    expect(
      (await post(hookPath(), signed(), `\ufeff${JSON.stringify(telegram.textUpdate(chatId, 'BOM'))}`))
        .status,
    ).toBe(200);
    const conversation = await shop.conversationWith(String(chatId));
    expect(await shop.bodiesOf(conversation)).toEqual(['Gr\ufffd\ufffde', 'BOM']);
  });

  it('lose no event for keys that JavaScript gives a meaning', async () => {
    const chatId = people++;
    const odd = Object.fromEntries(RESERVED_KEYS.map((key) => [key, FALSE_CLASS]));
    const { message, ...update } = telegram.textUpdate(chatId, 'constructor') as {
      message: { from: object };
    };
    const from = { ...message.from, ...odd };
    const raw = JSON.stringify({ ...update, ...odd, message: { ...message, ...odd, from } });
    expect((await post(hookPath(), signed(), raw)).status).toBe(200);
    const conversation = await shop.conversationWith(String(chatId));
    expect(await shop.bodiesOf(conversation)).toEqual(['constructor']);
    expect(countFalseClasses()).toBe(0);
  });

  it('store content without text, with a description and all its data', async () => {
    const chatId = people++;
    const sticker = { emoji: '👋', file_id: 'f1' };
    expect(await telegram.deliver(token, telegram.update(chatId, { sticker }))).toBe(200);
    const conversation = await shop.conversationWith(String(chatId));
    expect(await shop.bodiesOf(conversation)).toEqual(['[sticker] 👋']);
    const [row] = await service.query('SELECT metadata FROM messages WHERE conversation_id = $1', [
      conversation.id,
    ]);
    expect(row).toMatchObject({ metadata: { sticker } });
  });

  it.each([
    ['a NUL', 'a\0b', 'a\uFFFDb'],
    ['half of a surrogate pair', 'a\uD83Db', 'a\uFFFDb'],
    ['only blanks', ' \n ', '[empty message]'],
    ['too long', 'x'.repeat(5000), `${'x'.repeat(4095)}…`],
  ])('refuse no text: %s', async (_, text, stored) => {
    const chatId = people++;
    expect(await telegram.write(token, chatId, text)).toBe(200);
    const conversation = await shop.conversationWith(String(chatId));
    expect(await shop.bodiesOf(conversation)).toEqual([stored]);
  });

  it.each([
    ['an edit', { edited_message: { message_id: 1, chat: { id: 5, type: 'private' }, text: 'x' } }],
    ['an empty update', {}],
    ['parts of other types', { message: 'no', update_id: [] }],
    [
      'unusable ids',
      { update_id: 1, message: { message_id: 'x'.repeat(9000), chat: { id: 1, type: 'private' } } },
    ],
    ['an id with a NUL', { update_id: 1, message: { message_id: 1, chat: { id: '1\0', type: 'private' } } }],
  ])('accept %s, and store nothing', async (_, update) => {
    const before = await shop.tenant.client.all('/contacts', 200);
    expect(await telegram.deliver(token, update)).toBe(200);
    expect(await shop.tenant.client.all('/contacts', 200)).toEqual(before);
  });

  describe('store a message once', () => {
    it('even if it is repeated, also concurrently', async () => {
      const chatId = people++;
      const update = telegram.textUpdate(chatId, 'Only once');
      const statuses = await Promise.all(Array.from({ length: 20 }, () => telegram.deliver(token, update)));
      expect(statuses).toEqual(statuses.map(() => 200));
      expect(await telegram.deliver(token, update)).toBe(200);
      const conversations = await shop.conversationsWith(String(chatId));
      expect(conversations).toHaveLength(1);
      expect(await shop.bodiesOf(conversations[0])).toEqual(['Only once']);
    });

    it('even after later ones, and in another update', async () => {
      const chatId = people++;
      const first = telegram.textUpdate(chatId, 'first');
      await telegram.deliver(token, first);
      await telegram.write(token, chatId, 'second');
      expect(await telegram.deliver(token, { ...first, update_id: 999_999_999 })).toBe(200);
      const conversation = await shop.conversationWith(String(chatId));
      expect(await shop.bodiesOf(conversation)).toEqual(['first', 'second']);
    });

    it('with one contact and one conversation for a new customer’s concurrent first messages', async () => {
      const chatId = people++;
      const texts = Array.from({ length: 10 }, (_, n) => `message ${n}`);
      const statuses = await Promise.all(texts.map((text) => telegram.write(token, chatId, text)));
      expect(statuses).toEqual(texts.map(() => 200));
      const conversations = await shop.conversationsWith(String(chatId));
      expect(conversations).toHaveLength(1);
      expect((await shop.bodiesOf(conversations[0])).sort()).toEqual(texts);
      const { rows } = {
        rows: await service.query('SELECT id FROM contacts WHERE id = ANY ($1)', [
          conversations.map(({ contact }) => contact.id),
        ]),
      };
      expect(rows).toHaveLength(1);
    });
  });

  describe('refuse a request', () => {
    const update = () => JSON.stringify(telegram.textUpdate(people, 'Forged'));
    const messages = () => service.query<{ n: string }>('SELECT count(*) AS n FROM messages');

    it.each<[string, () => Record<string, string>]>([
      ['without a signature', () => ({})],
      ['with a wrong one', () => ({ [SECRET_HEADER]: 'x'.repeat(43) })],
      ['with an empty one', () => ({ [SECRET_HEADER]: '' })],
    ])('%s, and nothing is stored', async (_, headers) => {
      const before = await messages();
      const { status, body } = await post(hookPath(), headers(), update());
      expect(status).toBe(401);
      expect(body).toEqual(errorBody('UNAUTHENTICATED', UNSIGNED));
      expect(await messages()).toEqual(before);
    });

    it.each(['0'.repeat(32), 'short', '%00', '..%2f', `${'0'.repeat(32)}x`])(
      'to an unknown address: %s',
      async (hookKey) => {
        const { status, body } = await post(`/channels/telegram/${hookKey}`, signed(), update());
        expect(status).toBe(401);
        expect(body).toEqual(errorBody('UNAUTHENTICATED', UNSIGNED));
      },
    );

    it('to another channel’s path', async () => {
      const path = hookPath().replace('telegram', 'whatsapp');
      expect((await post(path, signed(), update())).status).toBe(401);
    });

    it.each(['', '{', 'null x', '{"update_id":1}}'])('with a body that is no JSON: %s', async (raw) => {
      const { status, body } = await post(hookPath(), signed(), raw);
      expect(status).toBe(400);
      expect(body).toEqual(errorBody('INVALID_BODY', 'The body cannot be read as JSON.'));
    });

    it.each(['null', '[]', '"x"', '1'])('never with any JSON, such as %s', async (raw) => {
      expect((await post(hookPath(), signed(), raw)).status).toBe(200);
    });

    it('above the largest batch of its provider, and not below', async () => {
      const ofSize = (bytes: number) => Buffer.from(JSON.stringify({ pad: 'x'.repeat(bytes - 10) }));
      expect(ofSize(MEBIBYTE)).toHaveLength(MEBIBYTE);
      expect((await post(hookPath(), signed(), ofSize(MEBIBYTE))).status).toBe(200);
      const { status, body } = await post(hookPath(), signed(), ofSize(MEBIBYTE + 1));
      expect(status).toBe(413);
      expect(body).toEqual(errorBody('PAYLOAD_TOO_LARGE', 'The body is larger than 1 MiB.'));
    });

    it('to an unknown address before its body has come', async () => {
      const connection = await RawConnection.open(service.baseUrl);
      const head = `POST /channels/telegram/${'0'.repeat(32)} HTTP/1.1\r\nHost: x\r\nContent-Length: ${MEBIBYTE}`;
      connection.send(`${head}\r\n\r\n`);
      await waitFor('the connection to be closed', () => connection.isClosed);
      expect(connection.answers()).toEqual([
        expect.objectContaining({ status: 401, body: errorBody('UNAUTHENTICATED', UNSIGNED) }),
      ]);
    });

    it('never for its content type', async () => {
      const headers = { ...signed(), 'content-type': 'text/html; charset=nonsense' };
      expect((await post(hookPath(), headers, '{}')).status).toBe(200);
    });

    it('above the API’s own limit, at the API’s paths', async () => {
      const raw = JSON.stringify({ body: 'x'.repeat(256 * 1024) });
      const path = `/api/v1/conversations/${newId()}/messages`;
      const { status, body } = await post(path, {}, raw);
      expect(status).toBe(413);
      expect(body).toEqual(errorBody('PAYLOAD_TOO_LARGE', 'The body is larger than 256 KiB.'));
    });

    it('with 404 at unknown paths', async () => {
      const { client } = service;
      for (const path of ['/channels', '/channels/telegram', '/channels/fax/x', hookPath()]) {
        expect((await client.send({ method: 'GET', path })).status).toBe(404);
      }
    });
  });

  it('of one workspace store nothing in another', async () => {
    const other = await connect();
    const chatId = people++;
    await telegram.write(other.token, chatId, 'To the other');
    expect(await shop.conversationsWith(String(chatId))).toEqual([]);
    expect(await other.shop.conversationsWith(String(chatId))).toHaveLength(1);
    const contacts = await service.app.get(ContactsService).list(shop.workspace.id, { limit: 200 }, SYSTEM);
    const identities = contacts.data.flatMap((contact) => contact.identities);
    expect(identities).not.toContainEqual({ channel: 'TELEGRAM', externalId: String(chatId) });
  });
});

describe('a hook that serves several accounts', () => {
  let whatsapp: WhatsAppSimulator;
  let service: TestService;
  let customers = 16_500_000_000;
  let phones = 100_000;

  beforeAll(async () => {
    whatsapp = await new WhatsAppSimulator().start();
    service = await TestService.create({ env: { META_GRAPH_URL: whatsapp.url, TRUST_PROXY: 'true' } });
    whatsapp.hookOrigin = service.baseUrl;
  });
  afterAll(async () => {
    await service.close();
    await whatsapp.stop();
  });

  interface Account {
    workspace: WorkspaceEntity;
    connectionId: string;
    phoneNumberId: string;
    hook: MetaHook;
    verifyToken: string;
  }

  const connections = () => service.app.get(ChannelConnectionsService);
  const credentialsOf = (phoneNumberId: string, appSecret: string) => ({
    phoneNumberId,
    appSecret,
    accessToken: `token-${phoneNumberId}`,
  });

  async function connect(appSecret: string, phoneNumberId = String(phones++)): Promise<Account> {
    const workspace = await service.make.workspace();
    const credentials = credentialsOf(phoneNumberId, appSecret);
    const { id, hookUrl, reveal } = await connections().connect(
      workspace.id,
      { channel: 'WHATSAPP', credentials },
      SYSTEM,
    );
    return {
      workspace,
      connectionId: id,
      phoneNumberId,
      hook: { url: hookUrl, appSecret },
      verifyToken: reveal.verifyToken!,
    };
  }

  /** Makes a WhatsApp notification with one customer's message to each of the business's phone numbers. */
  const messagesTo = (...phoneNumberIds: string[]) =>
    WhatsAppSimulator.envelope(
      phoneNumberIds.map((id) => {
        const message = whatsapp.message(String(customers++), `To ${id}`);
        return whatsapp.change(id, { messages: [message] });
      }),
    );

  const bodiesOf = async ({ workspace }: Account): Promise<string[]> => {
    const rows = await service.query<{ body: string }>(
      'SELECT body FROM messages WHERE tenant_id = $1 ORDER BY created_at',
      [workspace.id],
    );
    return rows.map(({ body }) => body);
  };

  it('stores each message in the workspace whose connection has the account and the signing secret', async () => {
    const [own, partner, foreign] = [
      await connect('shared'),
      await connect('shared'),
      await connect('other'),
    ];
    const stranger = '999';
    const all = messagesTo(
      foreign.phoneNumberId,
      own.phoneNumberId,
      stranger,
      partner.phoneNumberId,
      own.phoneNumberId,
    );
    expect(await whatsapp.notify(own.hook, all)).toBe(200);
    expect(await bodiesOf(own)).toEqual([`To ${own.phoneNumberId}`, `To ${own.phoneNumberId}`]);
    expect(await bodiesOf(partner)).toEqual([`To ${partner.phoneNumberId}`]);
    expect(await bodiesOf(foreign)).toEqual([]);
  });

  it('stores a message once, even if it arrives at several of their hooks', async () => {
    const [own, partner] = [await connect('twice'), await connect('twice')];
    const message = messagesTo(partner.phoneNumberId);
    const statuses = await Promise.all([own, partner, own].map(({ hook }) => whatsapp.notify(hook, message)));
    expect(statuses).toEqual([200, 200, 200]);
    expect(await bodiesOf(partner)).toHaveLength(1);
  });

  it("stores nothing signed with another workspace's secret", async () => {
    const [own, foreign] = [await connect('mine'), await connect('theirs')];
    const forged = messagesTo(foreign.phoneNumberId);
    const { url } = foreign.hook;
    expect(await whatsapp.notify({ url, appSecret: own.hook.appSecret }, forged)).toBe(401);
    expect(await whatsapp.notify(own.hook, forged)).toBe(200);
    expect(await bodiesOf(foreign)).toEqual([]);
  });

  it('verifies the exact bytes, not an equal body with other bytes', async () => {
    const own = await connect('bytes');
    const body = JSON.stringify(messagesTo(own.phoneNumberId));
    const signature = MetaSimulator.signature('bytes', body);
    expect(await whatsapp.notifyRaw(own.hook.url, `${body} `, signature)).toBe(401);
    expect(await whatsapp.notifyRaw(own.hook.url, body, null)).toBe(401);
    expect(await whatsapp.notifyRaw(own.hook.url, body, signature.toUpperCase())).toBe(401);
    expect(await whatsapp.notifyRaw(own.hook.url, body, signature)).toBe(200);
  });

  it('returns the challenge only for the right verify token', async () => {
    const { hook, verifyToken } = await connect('handshake');
    expect(await whatsapp.handshake(hook.url, verifyToken, '<b>7</b>')).toEqual({
      status: 200,
      body: '<b>7</b>',
    });
    const unknown = hook.url.replace(/[^/]+$/, '0'.repeat(32));
    for (const [url, token] of [
      [hook.url, 'wrong'],
      [hook.url, ''],
      [unknown, verifyToken],
    ] as const) {
      const { status, body } = await whatsapp.handshake(url, token);
      expect(status).toBe(403);
      expect(JSON.parse(body)).toEqual(
        errorBody('FORBIDDEN', 'This is not the verify token of this address.'),
      );
    }
    const { pathname } = new URL(hook.url);
    const query = `?hub.mode=subscribe&hub.verify_token=${verifyToken}&hub.challenge=7`;
    const answer = await fetch(service.baseUrl + pathname + query);
    expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect((await fetch(service.baseUrl + pathname)).status).toBe(403);
  });

  it.each([
    ['short-and-known', 'must be text of 16 to 200 characters'],
    ['', 'must not be empty'],
  ])('takes no verify token that can be guessed: %j', async (verifyToken, message) => {
    const { workspace } = await connect('short');
    const credentials = { ...credentialsOf('77', 'short'), verifyToken };
    await expect(
      connections().connect(workspace.id, { channel: 'WHATSAPP', credentials }, SYSTEM),
    ).rejects.toMatchObject({ details: [expect.objectContaining({ field: 'verifyToken', message })] });
  });

  it('accepts a new secret immediately, and the old one no longer', async () => {
    const { workspace, connectionId, hook, phoneNumberId } = await connect('old');
    const credentials = credentialsOf(phoneNumberId, 'new');
    await connections().rotate(workspace.id, connectionId, credentials, SYSTEM);
    expect(await whatsapp.notify(hook, messagesTo(phoneNumberId))).toBe(401);
    expect(await whatsapp.notify({ ...hook, appSecret: 'new' }, messagesTo(phoneNumberId))).toBe(200);
  });

  it('closes immediately when its account is disconnected', async () => {
    const own = await connect('closing');
    expect(await whatsapp.notify(own.hook, messagesTo(own.phoneNumberId))).toBe(200);
    await connections().disconnect(own.workspace.id, own.connectionId, SYSTEM);
    expect(await whatsapp.notify(own.hook, messagesTo(own.phoneNumberId))).toBe(401);
    expect((await whatsapp.handshake(own.hook.url, own.verifyToken)).status).toBe(403);
    expect(await bodiesOf(own)).toHaveLength(1);
  });

  it('responds 429 after too many refused requests from an address, but not to signed ones', () =>
    countedInRedis([service], async () => {
      const own = await connect('guessed');
      const { pathname } = new URL(own.hook.url);
      const post = (raw: string, headers: Record<string, string> = {}) =>
        service.client.send({
          method: 'POST',
          path: pathname,
          raw,
          headers: { 'x-forwarded-for': '203.0.113.7', ...headers },
        });
      const refused = await Promise.all(Array.from({ length: 121 }, () => post('{}')));
      const statuses = refused.map(({ status }) => status).sort();
      expect(statuses).toEqual([...Array<number>(120).fill(401), 429]);
      const limited = refused.find(({ status }) => status === 429)!;
      expect(Number(limited.headers['retry-after'])).toBeGreaterThan(0);
      expect(limited.body).toEqual(
        errorBody('RATE_LIMITED', expect.stringMatching(/^Too many refused requests\./)),
      );

      const raw = JSON.stringify(messagesTo(own.phoneNumberId));
      const signed = { 'x-hub-signature-256': MetaSimulator.signature('guessed', raw) };
      expect((await post('{}')).status).toBe(429);
      expect((await post(raw, signed)).status).toBe(200);
      const elsewhere = { 'x-forwarded-for': '203.0.113.8' };
      expect((await post('{}', elsewhere)).status).toBe(401);
      expect((await post(raw, { ...signed, ...elsewhere })).status).toBe(200);
      // The limit is the hook's: the same network may be that of another workspace's provider.
      const other = await connect('not guessed');
      const sent = JSON.stringify(messagesTo(other.phoneNumberId));
      const { status } = await service.client.send({
        method: 'POST',
        path: new URL(other.hook.url).pathname,
        raw: sent,
        headers: {
          'x-forwarded-for': '203.0.113.7',
          'x-hub-signature-256': MetaSimulator.signature('not guessed', sent),
        },
      });
      expect(status).toBe(200);
    }));

  it('lets nobody guess a verify token: above the limit also the right one is refused', () =>
    countedInRedis([service], async () => {
      const { hook, verifyToken } = await connect('guessed token');
      const { pathname } = new URL(hook.url);
      const guess = (token: string, address = '203.0.113.21') =>
        service.client.send({
          method: 'GET',
          path: `${pathname}?hub.mode=subscribe&hub.verify_token=${token}&hub.challenge=7`,
          headers: { 'x-forwarded-for': address },
        });
      const statuses: number[] = [];
      for (let n = 1; n <= 121; n++) statuses.push((await guess(`guess-${n}`)).status);
      expect(statuses).toEqual([...Array<number>(120).fill(403), 429]);
      expect((await guess(verifyToken)).status).toBe(429);
      // Right ones do not count.
      for (let n = 1; n <= 121; n++) expect((await guess(verifyToken, '203.0.113.22')).status).toBe(200);
    }));

  it('counts the refused requests of a whole /64 of IPv6 as those of one address', () =>
    countedInRedis([service], async () => {
      const { pathname } = new URL((await connect('guessed by many')).hook.url);
      const post = (n: number, network = '2001:db8:6:1') =>
        service.client.send({
          method: 'POST',
          path: pathname,
          raw: '{}',
          headers: { 'x-forwarded-for': `${network}::${n.toString(16)}` },
        });
      const statuses: number[] = [];
      // One after the other: too many at once are refused too, by the budget of hooks.
      for (let n = 1; n <= 121; n++) statuses.push((await post(n)).status);
      expect(statuses).toEqual([...Array<number>(120).fill(401), 429]);
      expect((await post(1, '2001:db8:6:2')).status).toBe(401);
    }));

  it('refuses a request with more events than its provider sends, before it stores any', async () => {
    const own = await connect('flood');
    const statuses = Array.from({ length: 10_001 }, (_, n) => ({ id: `wamid.${n}`, status: 'read' }));
    const message = whatsapp.message(String(customers++), 'Among them');
    const flood = whatsapp.notification(own.phoneNumberId, { messages: [message], statuses });
    expect(await whatsapp.notify(own.hook, flood)).toBe(413);
    expect(await bodiesOf(own)).toEqual([]);
  });

  it('asks the connection of such a request, and no other, to come back later', async () => {
    const [own, other] = [await connect('too-much'), await connect('calm')];
    const write = ({ hook, phoneNumberId }: Account) => whatsapp.notify(hook, messagesTo(phoneNumberId));
    const statuses = Array.from({ length: 10_001 }, (_, n) => ({ id: `wamid.${n}`, status: 'read' }));
    expect(await whatsapp.notify(own.hook, whatsapp.notification(own.phoneNumberId, { statuses }))).toBe(413);
    expect(await write(own)).toBe(429);
    expect(await write(other)).toBe(200);
    await waitFor('the end of the pause', async () => (await write(own)) === 200);
    expect(await bodiesOf(own)).toHaveLength(1);
  });

  it('stores thousands of receipts that come in one request', async () => {
    const own = await connect('receipts');
    const statuses = Array.from({ length: 5000 }, (_, n) => ({ id: `wamid.${n % 2500}`, status: 'read' }));
    const flood = whatsapp.notification(own.phoneNumberId, { statuses });
    for (let time = 0; time < 2; time++) expect(await whatsapp.notify(own.hook, flood)).toBe(200);
    const [row] = await service.query(
      'SELECT count(*)::int AS n FROM early_receipts WHERE connection_id = $1',
      [own.connectionId],
    );
    expect(row).toEqual({ n: 2500 });
  });

  it('asks to come back when too much is in flight, and then stores everything once', async () => {
    const own = await connect('busy');
    const bodies = Array.from({ length: 60 }, () => messagesTo(own.phoneNumberId));
    const blocker = new Client({ connectionString: service.stores.databaseUrl });
    await blocker.connect();
    await blocker.query('BEGIN');
    await blocker.query('LOCK TABLE contacts IN SHARE MODE');
    const first = bodies.map((body) => whatsapp.notify(own.hook, body));
    // The others wait for the blocker.
    await Promise.any(first.map(async (status) => expect(await status).toBe(429)));
    await blocker.end();
    const statuses = await Promise.all(first);
    expect(statuses.filter((status) => ![200, 429, 503].includes(status))).toEqual([]);

    // As a provider does.
    let left = bodies;
    await waitFor('everything to be taken', async () => {
      const answers = await Promise.all(left.map((body) => whatsapp.notify(own.hook, body)));
      left = left.filter((_, n) => answers[n] !== 200);
      return left.length === 0;
    });
    expect(await bodiesOf(own)).toHaveLength(bodies.length);
  });

  it('fails when a part could not be stored, and stores the missing part when it is sent again', async () => {
    const own = await connect('partly');
    const first = messagesTo(own.phoneNumberId);
    expect(await whatsapp.notify(own.hook, first)).toBe(200);
    const [{ conversation } = { conversation: '' }] = await service.query<{ conversation: string }>(
      'SELECT id AS conversation FROM conversations WHERE tenant_id = $1',
      [own.workspace.id],
    );
    const [busy, free] = [whatsapp.message(String(customers - 1), 'Busy'), whatsapp.message('1', 'Free')];
    const after = whatsapp.message('2', 'After');
    const both = whatsapp.notification(own.phoneNumberId, { messages: [free, busy, after] });

    // Another transaction locks the first customer's conversation for longer than a request waits.
    const status = await service.app.get(Database).transaction(async (tx) => {
      const row = [own.workspace.id, conversation];
      await tx.query('SELECT FROM conversations WHERE tenant_id = $1 AND id = $2 FOR UPDATE', row);
      return whatsapp.notify(own.hook, both);
    });
    expect(status).toBe(503);
    expect(await bodiesOf(own)).toContain('Free');
    expect(await bodiesOf(own)).not.toContain('Busy');

    expect(await whatsapp.notify(own.hook, both)).toBe(200);
    expect((await bodiesOf(own)).slice(1).sort()).toEqual(['After', 'Busy', 'Free']);
  });
});

describe('a hook while the database is down', () => {
  it('makes the provider send again, and stores the message once', async () => {
    const telegram = await new TelegramSimulator().start();
    const direct = await TestService.create({ env: { TELEGRAM_API_URL: telegram.url } });
    const proxy = await TcpProxy.start(direct.stores.databaseUrl);
    const service = await TestService.create({
      beside: direct,
      env: { TELEGRAM_API_URL: telegram.url, DATABASE_URL: proxy.address },
    });
    telegram.hookOrigin = service.baseUrl;
    try {
      const workspace = await direct.make.workspace();
      const botToken = TelegramSimulator.token();
      const input = { channel: 'TELEGRAM' as const, credentials: { botToken } };
      await direct.app.get(ChannelConnectionsService).connect(workspace.id, input, SYSTEM);
      const update = telegram.textUpdate(7, 'Anybody?');

      await proxy.cut();
      expect(await telegram.deliver(botToken, update)).toBe(503);
      await proxy.restore();
      await waitFor(
        'the message to be stored',
        async () => (await telegram.deliver(botToken, update)) === 200,
      );
      expect(await telegram.deliver(botToken, update)).toBe(200);

      const messages = await direct.query('SELECT body FROM messages WHERE tenant_id = $1', [workspace.id]);
      expect(messages).toEqual([{ body: 'Anybody?' }]);
    } finally {
      await service.close();
      await proxy.cut();
      await direct.close();
      await telegram.stop();
    }
  });
});
