import { newId } from '../../src/common/ids';
import { SYSTEM } from '../../src/common/principal';
import { ChannelConnectionsService } from '../../src/channels/connections/channel-connections.service';
import { ContactsService } from '../../src/contacts/contacts.service';
import { WorkspaceEntity } from '../../src/workspaces/workspace.entity';
import { errorBody } from '../support/errors';
import { eventsOf } from '../support/events';
import { createTenant, Tenant } from '../support/routes';
import { TestService } from '../support/service';
import { TelegramSimulator } from '../support/simulators/telegram';

const SECRET_HEADER = 'x-telegram-bot-api-secret-token';
const UNSIGNED = 'The request is not signed as it must be.';

describe('what providers send to hooks', () => {
  let telegram: TelegramSimulator;
  let service: TestService;
  let tenant: Tenant;
  let token: string;
  let bots = 8_000_000;
  let people = 100;

  beforeAll(async () => {
    telegram = await new TelegramSimulator().start();
    service = await TestService.create({ env: { TELEGRAM_API_URL: telegram.url } });
    telegram.hookOrigin = service.baseUrl;
    tenant = await createTenant(service);
    token = await connect(tenant.workspace);
  });
  afterAll(async () => {
    await service.close();
    await telegram.stop();
  });

  async function connect(workspace: WorkspaceEntity): Promise<string> {
    const botToken = TelegramSimulator.token(bots++);
    const input = { channel: 'TELEGRAM' as const, credentials: { botToken } };
    await service.app.get(ChannelConnectionsService).connect(workspace.id, input, SYSTEM);
    return botToken;
  }

  const conversationsOf = async ({ client }: Tenant, customer: string) => {
    const conversations = await client.all('/conversations?channel=TELEGRAM', 200);
    const whole = await Promise.all(conversations.map(({ id }) => client.get(`/conversations/${id}`)));
    return whole
      .map(({ body }) => body)
      .filter(({ contact }) =>
        contact.identities.some(({ externalId }: { externalId: string }) => externalId === customer),
      );
  };
  const messagesOf = ({ client }: Tenant, { id }: { id: string }) =>
    client.all(`/conversations/${id}/messages`, 200);
  const bodiesOf = async (conversation: { id: string }): Promise<string[]> =>
    (await messagesOf(tenant, conversation)).map(({ body }) => body).reverse();

  /** A person who has written already, and the conversation. */
  async function customer(): Promise<{ chatId: number; conversation: { id: string } }> {
    const chatId = people++;
    expect(await telegram.write(token, chatId, 'Hello?')).toBe(200);
    const [conversation] = await conversationsOf(tenant, String(chatId));
    return { chatId, conversation };
  }

  const hookPath = () => new URL(telegram.webhooks.get(token)!.url).pathname;
  const signed = () => ({ [SECRET_HEADER]: telegram.webhooks.get(token)!.secret_token! });
  const post = (path: string, headers: Record<string, string>, raw: string | Buffer) =>
    service.client.send({ method: 'POST', path, headers, raw });

  it('makes the customer a contact, and their message a conversation, with its events', async () => {
    const chatId = people++;
    expect(await telegram.write(token, chatId, 'Is it in stock?')).toBe(200);

    const conversations = await conversationsOf(tenant, String(chatId));
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
    const messages = await messagesOf(tenant, conversations[0]);
    expect(messages).toEqual([
      expect.objectContaining({ senderType: 'CUSTOMER', senderAgentId: null, body: 'Is it in stock?' }),
    ]);
    const events = await eventsOf(service, tenant.workspace, 'message.created');
    const { id, body, senderType, createdAt } = messages[0];
    expect(events).toContainEqual({
      conversationId: conversations[0].id,
      message: { id, body, senderType, createdAt },
    });
  });

  it('goes on in the same conversation', async () => {
    const { chatId, conversation } = await customer();
    await telegram.write(token, chatId, 'Anybody there?');
    expect(await conversationsOf(tenant, String(chatId))).toHaveLength(1);
    expect(await bodiesOf(conversation)).toEqual(['Hello?', 'Anybody there?']);
  });

  it.each(['CLOSED', 'SNOOZED'])('opens a conversation again that was %s', async (status) => {
    const { chatId, conversation } = await customer();
    await tenant.client.patch(`/conversations/${conversation.id}`, { status });
    await telegram.write(token, chatId, 'One more thing');
    expect(await conversationsOf(tenant, String(chatId))).toEqual([
      expect.objectContaining({ id: conversation.id, status: 'OPEN' }),
    ]);
    const events = await eventsOf(service, tenant.workspace, 'conversation.updated');
    expect(events.filter(({ conversationId }) => conversationId === conversation.id)).toEqual([
      { conversationId: conversation.id, status },
      { conversationId: conversation.id, status: 'OPEN' },
    ]);
  });

  it('goes on where an agent has begun with a known customer', async () => {
    const { chatId, conversation } = await customer();
    const known = await tenant.client.get(`/conversations/${conversation.id}`);
    const begun = await service.make.conversation(tenant.workspace, {
      contactId: known.body.contact.id,
      channel: 'TELEGRAM',
    });
    await telegram.write(token, chatId, 'Here?');
    expect(await bodiesOf(begun)).toEqual(['Here?']);
  });

  it('keeps what is no text, with a description and all that was sent', async () => {
    const chatId = people++;
    const sticker = { emoji: '👋', file_id: 'f1' };
    expect(await telegram.deliver(token, telegram.update(chatId, { sticker }))).toBe(200);
    const [conversation] = await conversationsOf(tenant, String(chatId));
    expect(await bodiesOf(conversation)).toEqual(['[sticker] 👋']);
    const [row] = await service.query('SELECT metadata FROM messages WHERE conversation_id = $1', [
      conversation.id,
    ]);
    expect(row).toMatchObject({ metadata: { sticker } });
  });

  it.each([
    ['a NUL', 'a\0b', 'a\uFFFDb'],
    ['half of a surrogate pair', 'a\uD83Db', 'a\uFFFDb'],
    ['nothing but blanks', ' \n ', '[empty message]'],
    ['too much', 'x'.repeat(5000), `${'x'.repeat(4095)}…`],
  ])('refuses no text: %s', async (_, text, stored) => {
    const chatId = people++;
    expect(await telegram.write(token, chatId, text)).toBe(200);
    const [conversation] = await conversationsOf(tenant, String(chatId));
    expect(await bodiesOf(conversation)).toEqual([stored]);
  });

  it.each([
    ['an edit', { edited_message: { message_id: 1, chat: { id: 5, type: 'private' }, text: 'x' } }],
    ['nothing at all', {}],
    ['parts that are something else', { message: 'no', update_id: [] }],
    [
      'ids that nobody has',
      { update_id: 1, message: { message_id: 'x'.repeat(9000), chat: { id: 1, type: 'private' } } },
    ],
    ['an id with a NUL', { update_id: 1, message: { message_id: 1, chat: { id: '1\0', type: 'private' } } }],
  ])('takes %s, and stores nothing', async (_, update) => {
    const before = await tenant.client.all('/contacts', 200);
    expect(await telegram.deliver(token, update)).toBe(200);
    expect(await tenant.client.all('/contacts', 200)).toEqual(before);
  });

  describe('once', () => {
    it('however often the same comes, and however many at once', async () => {
      const chatId = people++;
      const update = telegram.textUpdate(chatId, 'Only once');
      const statuses = await Promise.all(Array.from({ length: 20 }, () => telegram.deliver(token, update)));
      expect(statuses).toEqual(statuses.map(() => 200));
      expect(await telegram.deliver(token, update)).toBe(200);
      const conversations = await conversationsOf(tenant, String(chatId));
      expect(conversations).toHaveLength(1);
      expect(await bodiesOf(conversations[0])).toEqual(['Only once']);
    });

    it('also after later ones, and under another number of the provider’s', async () => {
      const chatId = people++;
      const first = telegram.textUpdate(chatId, 'first');
      await telegram.deliver(token, first);
      await telegram.write(token, chatId, 'second');
      expect(await telegram.deliver(token, { ...first, update_id: 999_999_999 })).toBe(200);
      const [conversation] = await conversationsOf(tenant, String(chatId));
      expect(await bodiesOf(conversation)).toEqual(['first', 'second']);
    });

    it('makes one contact and one conversation of a new customer’s first messages, all at once', async () => {
      const chatId = people++;
      const texts = Array.from({ length: 10 }, (_, n) => `message ${n}`);
      const statuses = await Promise.all(texts.map((text) => telegram.write(token, chatId, text)));
      expect(statuses).toEqual(texts.map(() => 200));
      const conversations = await conversationsOf(tenant, String(chatId));
      expect(conversations).toHaveLength(1);
      expect((await bodiesOf(conversations[0])).sort()).toEqual(texts);
      const { rows } = {
        rows: await service.query('SELECT id FROM contacts WHERE id = ANY ($1)', [
          conversations.map(({ contact }) => contact.id),
        ]),
      };
      expect(rows).toHaveLength(1);
    });
  });

  describe('is refused', () => {
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
      'at an address that there is not: %s',
      async (hookKey) => {
        const { status, body } = await post(`/channels/telegram/${hookKey}`, signed(), update());
        expect(status).toBe(401);
        expect(body).toEqual(errorBody('UNAUTHENTICATED', UNSIGNED));
      },
    );

    it('at another channel’s path', async () => {
      const path = hookPath().replace('telegram', 'whatsapp');
      expect((await post(path, signed(), update())).status).toBe(401);
    });

    it.each(['', '{', 'null x', '{"update_id":1}}'])('when it is no JSON: %s', async (raw) => {
      const { status, body } = await post(hookPath(), signed(), raw);
      expect(status).toBe(400);
      expect(body).toEqual(errorBody('INVALID_BODY', 'The body cannot be read as JSON.'));
    });

    it.each(['null', '[]', '"x"', '1'])('never for being %s', async (raw) => {
      expect((await post(hookPath(), signed(), raw)).status).toBe(200);
    });

    it('beyond 3 MiB, and not below', async () => {
      const ofSize = (bytes: number) => Buffer.from(JSON.stringify({ pad: 'x'.repeat(bytes - 10) }));
      expect(ofSize(3 * 1024 * 1024)).toHaveLength(3 * 1024 * 1024);
      expect((await post(hookPath(), signed(), ofSize(3 * 1024 * 1024))).status).toBe(200);
      const { status, body } = await post(hookPath(), signed(), ofSize(3 * 1024 * 1024 + 1));
      expect(status).toBe(413);
      expect(body).toEqual(errorBody('PAYLOAD_TOO_LARGE', 'The body is larger than 3 MiB.'));
    });

    it('whatever type it says it has', async () => {
      const headers = { ...signed(), 'content-type': 'text/html; charset=nonsense' };
      expect((await post(hookPath(), headers, '{}')).status).toBe(200);
    });

    it('leaves the API its own limit', async () => {
      const raw = JSON.stringify({ body: 'x'.repeat(256 * 1024) });
      const path = `/api/v1/conversations/${newId()}/messages`;
      const { status, body } = await post(path, {}, raw);
      expect(status).toBe(413);
      expect(body).toEqual(errorBody('PAYLOAD_TOO_LARGE', 'The body is larger than 256 KiB.'));
    });

    it('is not asked for at paths that there are not', async () => {
      const { client } = service;
      for (const path of ['/channels', '/channels/telegram', '/channels/fax/x', hookPath()]) {
        expect((await client.send({ method: 'GET', path })).status).toBe(404);
      }
    });
  });

  it('of one workspace stores nothing in another', async () => {
    const other = await createTenant(service);
    const otherToken = await connect(other.workspace);
    const chatId = people++;
    await telegram.write(otherToken, chatId, 'To the other');
    expect(await conversationsOf(tenant, String(chatId))).toEqual([]);
    expect(await conversationsOf(other, String(chatId))).toHaveLength(1);
    const contacts = await service.app.get(ContactsService).list(tenant.workspace.id, { limit: 200 });
    const identities = contacts.data.flatMap((contact) => contact.identities);
    expect(identities).not.toContainEqual({ channel: 'TELEGRAM', externalId: String(chatId) });
  });
});
