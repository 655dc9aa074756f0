import { MessageSearchService } from '../../src/message-search/message-search.service';
import { ContactExportService } from '../../src/privacy/contact-export.service';
import { RetentionService } from '../../src/operations/retention/retention.service';
import { SYSTEM } from '../../src/access/principal';
import { ChannelWorkspace } from '../support/channel-workspace';
import { completeErasure, erasuresOf } from '../support/erasures';
import { MessagingChannel, newCustomerId } from '../support/messaging-channel';
import { Receiver } from '../support/receiver';
import { TestService } from '../support/service';
import { InstagramSimulator } from '../support/simulators/instagram';
import { WhatsAppSimulator } from '../support/simulators/whatsapp';
import { tracesIn } from '../support/traces';
import { waitFor } from '../support/wait';
import { WebhookWorkspace } from '../support/webhook-workspace';

const APP_SECRET = '0123456789abcdef0123456789abcdef';
const FIRST = 'typo: 100 euro';

describe('what customers correct or take back', () => {
  let whatsapp: WhatsAppSimulator;
  let instagram: InstagramSimulator;
  let service: TestService;
  let shop: ChannelWorkspace;
  let phoneNumberId: string;
  let numbers = 206_540_352_242_922;
  let people = 34_600_444_000;

  beforeAll(async () => {
    whatsapp = await new WhatsAppSimulator().start();
    instagram = await new InstagramSimulator().start();
    const env = { META_GRAPH_URL: whatsapp.url, INSTAGRAM_GRAPH_URL: instagram.url };
    service = await TestService.create({ role: 'all', env });
    whatsapp.hookOrigin = instagram.hookOrigin = service.baseUrl;
  });
  beforeEach(async () => {
    phoneNumberId = String(++numbers);
    shop = await connect(phoneNumberId);
  });

  const connect = (id: string) =>
    ChannelWorkspace.connect(service, 'WHATSAPP', {
      phoneNumberId: id,
      accessToken: 'EAAGsimulatedToken',
      appSecret: APP_SECRET,
    });
  const notify = (...messages: { from?: string }[]) =>
    whatsapp.notify(
      { url: shop.connection.hookUrl, appSecret: APP_SECRET },
      whatsapp.notification(phoneNumberId, { messages }),
    );
  const edit = (from: string, id: string, body: string, timestamp = '10') =>
    whatsapp.message(from, '', {
      timestamp,
      type: 'edit',
      text: undefined,
      edit: { original_message_id: id, message: { type: 'text', text: { body } } },
    });
  const revoke = (from: string, id: string) =>
    whatsapp.message(from, '', { type: 'revoke', text: undefined, revoke: { original_message_id: id } });
  const reaction = (from: string, id: string, emoji: string | undefined, timestamp = '10') =>
    whatsapp.message(from, '', {
      timestamp,
      type: 'reaction',
      text: undefined,
      reaction: { message_id: id, emoji },
    });

  const newCustomer = () => String(++people);
  const newUserId = () => `ES.${++people}`;
  const messagesOf = async ({ id }: { id: string }, query = ''): Promise<any[]> =>
    (await shop.tenant.client.get(`/conversations/${id}/messages${query}`)).body.data;

  /** Makes a change that names its customer by a business-scoped id alone. */
  const under = (userId: string, change: object) => ({ ...change, from: undefined, from_user_id: userId });

  /** Makes a customer write. */
  async function write(body = FIRST) {
    const customer = newCustomer();
    const original = whatsapp.message(customer, body);
    expect(await notify(original)).toBe(200);
    return { customer, original, conversation: await shop.conversationWith(customer) };
  }

  const close = (conversation: { id: string }) =>
    shop.tenant.client.patch(`/conversations/${conversation.id}`, { status: 'CLOSED' });

  /** Returns the texts that a search finds, when the words of all messages are indexed. */
  const search = async (text: string): Promise<string[]> => {
    const found = await service.app.get(MessageSearchService).search(shop.workspace.id, { text }, SYSTEM);
    return found.data.map(({ excerpt }) => excerpt.map((part) => part.text).join(''));
  };

  describe('an edit', () => {
    it('changes the message, beside its first text (public report 5)', async () => {
      const { customer, original, conversation } = await write();
      expect(await notify(edit(customer, original.id, 'corrected: 10 euro'))).toBe(200);
      const [message, ...others] = await messagesOf(conversation);
      expect(others).toEqual([]);
      expect(message).toEqual({
        id: expect.any(String),
        senderType: 'CUSTOMER',
        senderAgentId: null,
        body: 'corrected: 10 euro',
        createdAt: expect.any(String),
        delivery: { status: null, error: null },
        editedAt: expect.any(String),
        unsentAt: null,
        reactions: [],
        isDescribed: false,
        attachments: [],
      });
      expect(await messagesOf(conversation, '?include=firstBody')).toMatchObject([{ firstBody: FIRST }]);
      expect(await shop.conversationWith(customer)).toMatchObject({
        lastMessagePreview: 'corrected: 10 euro',
      });
    });

    it('keeps the first text when it is edited again, and takes an older edit for the past', async () => {
      const { customer, original, conversation } = await write();
      await notify(edit(customer, original.id, 'second', '20'));
      await notify(edit(customer, original.id, 'late', '15'), edit(customer, original.id, 'late', '15'));
      await notify(edit(customer, original.id, 'third', '30'), edit(customer, original.id, 'second', '20'));
      expect(await messagesOf(conversation, '?include=firstBody')).toMatchObject([
        { body: 'third', firstBody: FIRST },
      ]);
    });

    it('leaves the status and the preview of a later message alone', async () => {
      const { customer, original, conversation } = await write();
      await notify(whatsapp.message(customer, 'And blue?'));
      await close(conversation);
      await notify(edit(customer, original.id, 'corrected'));
      expect(await shop.conversationWith(customer)).toMatchObject({
        status: 'CLOSED',
        lastMessagePreview: 'And blue?',
      });
      expect(await shop.bodiesOf(conversation)).toEqual(['corrected', 'And blue?']);
    });

    it('waits for a message that comes later', async () => {
      const customer = newCustomer();
      const original = whatsapp.message(customer, FIRST);
      expect(await notify(edit(customer, original.id, 'corrected', '20'))).toBe(200);
      expect(await notify(edit(customer, original.id, 'older', '15'))).toBe(200);
      expect(await shop.conversationsWith(customer)).toEqual([]);
      await notify(original, original);
      const conversation = await shop.conversationWith(customer);
      expect(await messagesOf(conversation, '?include=firstBody')).toMatchObject([
        { body: 'corrected', firstBody: FIRST },
      ]);
      expect(await service.query('SELECT FROM early_changes WHERE provider_id = $1', [original.id])).toEqual(
        [],
      );
    });

    it('of an old message is not lost when the history is cleaned up', async () => {
      const { customer, original, conversation } = await write();
      const other = whatsapp.message(customer, 'my card is 4111 1111');
      await notify(other);
      await service.query(
        `UPDATE provider_messages SET created_at = now() - interval '90 days' WHERE tenant_id = $1`,
        [shop.workspace.id],
      );
      await service.app.get(RetentionService).clean();
      await notify(edit(customer, original.id, 'corrected'), revoke(customer, other.id));
      expect(await shop.bodiesOf(conversation)).toEqual(['corrected', '']);
      expect(await tracesIn(service, ['my card is 4111 1111'])).toEqual([]);
    });

    it('at the same moment as its message is not lost', async () => {
      const customer = newCustomer();
      const originals = Array.from({ length: 10 }, (_, n) => whatsapp.message(customer, `first ${n}`));
      const edits = originals.map(({ id }, n) => edit(customer, id, `second ${n}`));
      await Promise.all([...originals, ...edits].map((event) => notify(event)));
      const bodies = await shop.bodiesOf(await shop.conversationWith(customer));
      expect(bodies.toSorted()).toEqual(originals.map((_, n) => `second ${n}`));
    });

    it('of a caption keeps what the message has, and one that is too long is cut', async () => {
      const customer = newCustomer();
      const image = { id: '7', mime_type: 'image/jpeg' };
      const original = whatsapp.message(customer, '', {
        type: 'image',
        text: undefined,
        image: { ...image, caption: 'Ours' },
      });
      await notify(original);
      const conversation = await shop.conversationWith(customer);
      const corrected = { type: 'image', image: { ...image, caption: 'Yours' } };
      await notify({
        ...edit(customer, original.id, ''),
        edit: { original_message_id: original.id, message: corrected },
      } as { from: string });
      expect(await shop.bodiesOf(conversation)).toEqual(['[image] Yours']);
      await notify(edit(customer, original.id, 'x'.repeat(5_000), '20'));
      const [message] = await messagesOf(conversation);
      expect(message.body).toHaveLength(4096);
      const [row] = await service.query<{ metadata: any }>('SELECT metadata FROM messages WHERE id = $1', [
        message.id,
      ]);
      expect(row!.metadata).toMatchObject({ image, wholeBody: 'x'.repeat(5_000) });
      await notify(edit(customer, original.id, 'short', '30'));
      const [after] = await service.query<{ metadata: any }>('SELECT metadata FROM messages WHERE id = $1', [
        message.id,
      ]);
      expect(after!.metadata).not.toHaveProperty('wholeBody');
    });

    it("changes no other customer's message, no agent's, and none of another workspace", async () => {
      const { customer, original, conversation } = await write();
      await notify(edit(newCustomer(), original.id, 'forged'), revoke(newCustomer(), original.id));
      const other = await write('Somebody else');
      await notify(edit(other.customer, original.id, 'forged'), revoke(other.customer, original.id));
      const sent = await shop.send(conversation, 'It is 10 euro.');
      await shop.delivered(sent, 'SENT');
      const { id } = whatsapp.sent.findLast(({ to }) => to === customer)!;
      await notify(edit(customer, id, 'forged'), revoke(customer, id));
      const stranger = await connect(String(++numbers));
      await whatsapp.notify(
        { url: stranger.connection.hookUrl, appSecret: APP_SECRET },
        whatsapp.notification(stranger.connection.externalId, {
          messages: [edit(customer, original.id, 'forged'), revoke(customer, original.id)],
        }),
      );
      expect(await shop.bodiesOf(conversation)).toEqual([FIRST, 'It is 10 euro.']);
    });

    it('under an id that nobody has yet waits until it is its customer’s', async () => {
      const { customer, original, conversation } = await write('my card is 4111 1111');
      const second = whatsapp.message(customer, 'second');
      await notify(second);
      const userId = newUserId();
      await notify(under(userId, revoke('', original.id)), under(userId, edit('', second.id, 'corrected')));
      expect(await shop.bodiesOf(conversation)).toEqual(['my card is 4111 1111', 'second']);
      await notify(whatsapp.message(customer, 'third', { from_user_id: userId }));
      expect(await shop.bodiesOf(conversation)).toEqual(['', 'corrected', 'third']);
      expect(await service.query('SELECT FROM early_changes WHERE customer_id = $1', [userId])).toEqual([]);
    });

    it('under an id that becomes somebody else’s changes nothing', async () => {
      const { original, conversation } = await write();
      const userId = newUserId();
      await notify(under(userId, revoke('', original.id)));
      await notify(whatsapp.message(newCustomer(), 'Hello', { from_user_id: userId }));
      expect(await shop.bodiesOf(conversation)).toEqual([FIRST]);
    });

    it('by somebody else waits for no message', async () => {
      const customer = newCustomer();
      const [first, second] = [whatsapp.message(customer, 'first'), whatsapp.message(customer, 'second')];
      const stranger = newCustomer();
      await notify(revoke(stranger, first.id), edit(stranger, second.id, 'forged', '90'));
      await notify(edit(customer, second.id, 'corrected', '10'), first, second);
      expect(await shop.bodiesOf(await shop.conversationWith(customer))).toEqual(['first', 'corrected']);
    });

    it('is told to receivers and found by both texts', async () => {
      const receiver = await Receiver.start();
      const webhooks = await WebhookWorkspace.wrap(service, shop.tenant.workspace);
      await webhooks.addEndpoint(receiver.url(), { events: ['*'] });
      const { customer, original, conversation } = await write('a parcel of plums');
      await waitFor('the first text to be found', async () => (await search('plums')).length === 1, 20_000);
      await notify(edit(customer, original.id, 'a parcel of pears'));
      const { envelope } = await receiver.waitFor(({ body }) => body.includes('message.updated'));
      const [message] = await messagesOf(conversation);
      expect(envelope).toMatchObject({
        event: 'message.updated',
        data: { conversationId: conversation.id, messageId: message.id, change: 'EDITED' },
      });
      expect(Object.keys(envelope.data)).toHaveLength(3);
      await waitFor('the new text to be found', async () => (await search('pears')).length === 1, 20_000);
      expect(await search('plums')).toHaveLength(1);
      await notify(revoke(customer, original.id));
      expect([...(await search('pears')), ...(await search('plums'))]).toEqual([]);
      await receiver.stop();
    });
  });

  describe('an unsent message', () => {
    it('leaves no trace of its texts, and opens nothing (public report 5)', async () => {
      const secret = `card ${people} 4111 1111`;
      const receiver = await Receiver.start();
      receiver.https.respond = (response, { body }) => response.writeHead(200).end(`echo ${body.toString()}`);
      const webhooks = await WebhookWorkspace.wrap(service, shop.tenant.workspace);
      const events = ['message.created', 'message.updated'];
      const endpoint = await webhooks.addEndpoint(receiver.url(), { events });
      const { customer, original, conversation } = await write(`${secret}, first`);
      await notify(edit(customer, original.id, secret));
      const [agent] = await service.query<{ id: string }>('SELECT id FROM agents WHERE tenant_id = $1', [
        shop.workspace.id,
      ]);
      await service.query('INSERT INTO drafts VALUES ($1, $2, $3, $4, now())', [
        shop.workspace.id,
        agent!.id,
        conversation.id,
        `Thank you.\n> ${secret}\nBye`,
      ]);
      await webhooks.waitForStatus(endpoint, 'succeeded', 2);
      await close(conversation);
      expect(await notify(revoke(customer, original.id))).toBe(200);

      expect(await tracesIn(service, [secret])).toEqual([]);
      expect(await messagesOf(conversation, '?include=firstBody')).toMatchObject([
        { body: '', firstBody: null, unsentAt: expect.any(String) },
      ]);
      expect(await shop.conversationWith(customer)).toMatchObject({
        status: 'CLOSED',
        lastMessagePreview: '',
      });
      const [draft] = await service.query<{ body: string }>('SELECT body FROM drafts WHERE tenant_id = $1', [
        shop.workspace.id,
      ]);
      expect(draft!.body).toBe('Thank you.\n> \nBye');
      const delivered = await receiver.waitFor(({ body }) => body.includes('UNSENT'));
      expect(delivered.envelope.data).toMatchObject({ conversationId: conversation.id, change: 'UNSENT' });
      await receiver.stop();
    });

    it('leaves no trace of a text between two others, nor in what receivers answer to a change', async () => {
      const secret = `iban ${people} 5500`;
      const receiver = await Receiver.start();
      let answerLast = () => {};
      const isTime = new Promise<void>((resolve) => (answerLast = resolve));
      receiver.https.respond = async (response, { body }) => {
        if (body.includes('UNSENT')) await isTime;
        response.writeHead(200).end(`it was ${secret}`);
      };
      const webhooks = await WebhookWorkspace.wrap(service, shop.tenant.workspace);
      const events = ['message.created', 'message.updated'];
      const endpoint = await webhooks.addEndpoint(receiver.url(), { events });
      const { customer, original, conversation } = await write();
      const [agent] = await service.query<{ id: string }>('SELECT id FROM agents WHERE tenant_id = $1', [
        shop.workspace.id,
      ]);
      await notify(edit(customer, original.id, secret, '20'));
      await service.query('INSERT INTO drafts VALUES ($1, $2, $3, $4, now())', [
        shop.workspace.id,
        agent!.id,
        conversation.id,
        `Thank you.\n> ${secret}\nBye`,
      ]);
      await notify(edit(customer, original.id, 'third', '30'));
      await notify(under(newUserId(), edit('', original.id, `${secret} waits`)));
      await webhooks.waitForStatus(endpoint, 'succeeded', 3);
      await notify(revoke(customer, original.id));
      expect(await tracesIn(service, [secret])).toEqual([]);
      answerLast();
      await webhooks.waitForStatus(endpoint, 'succeeded', 4);
      expect(await tracesIn(service, [secret])).not.toEqual([]);
      await service.query('UPDATE unsent_messages SET due_at = now() WHERE tenant_id = $1', [
        shop.workspace.id,
      ]);
      await waitFor(
        'the answers to be erased',
        async () =>
          (await service.query('SELECT FROM unsent_messages WHERE tenant_id = $1', [shop.workspace.id]))
            .length === 0,
      );
      expect(await tracesIn(service, [secret])).toEqual([]);
      await receiver.stop();
    });

    it('stays so, whatever comes again or late', async () => {
      const { customer, original, conversation } = await write();
      await notify(edit(customer, original.id, 'second'));
      await notify(revoke(customer, original.id), revoke(customer, original.id));
      await notify(
        original,
        edit(customer, original.id, 'late', '99'),
        reaction(customer, original.id, '👍'),
      );
      expect(await messagesOf(conversation)).toMatchObject([{ body: '', reactions: [] }]);
      const events = await service.query(
        `SELECT FROM events WHERE tenant_id = $1 AND data->>'change' = 'UNSENT'`,
        [shop.workspace.id],
      );
      expect(events).toHaveLength(1);
    });

    it('that comes after it was taken back is not stored', async () => {
      const { customer, conversation } = await write();
      const original = whatsapp.message(customer, 'my card is 4111 1111');
      await close(conversation);
      await notify(revoke(customer, original.id), edit(customer, original.id, 'late'));
      await notify(original, original);
      expect(await shop.bodiesOf(conversation)).toEqual([FIRST]);
      expect(await shop.conversationWith(customer)).toMatchObject({ status: 'CLOSED' });
    });

    it('of a new customer that comes after it was taken back makes nothing', async () => {
      const original = whatsapp.message(newCustomer(), 'my card is 4111 1111');
      const tables = ['contacts', 'contact_identities', 'conversations', 'messages', 'events'];
      const count = () =>
        Promise.all(
          tables.map(async (table) => {
            const rows = await service.query(`SELECT FROM ${table} WHERE tenant_id = $1`, [
              shop.workspace.id,
            ]);
            return rows.length;
          }),
        );
      const before = await count();
      await notify(revoke(original.from, original.id));
      await notify(original, original);
      expect(await count()).toEqual(before);
    });
  });

  describe('a reaction', () => {
    it('belongs to its message, opens nothing, and can be taken back (public report 8)', async () => {
      const { customer, original, conversation } = await write();
      const sent = await shop.send(conversation, 'It is 10 euro.');
      await shop.delivered(sent, 'SENT');
      await close(conversation);
      const { id } = whatsapp.sent.findLast(({ to }) => to === customer)!;
      await notify(reaction(customer, id, '👍'), reaction(customer, original.id, '😮'));
      const given = [{ senderType: 'CUSTOMER', emoji: '👍' }];
      expect(await messagesOf(conversation)).toMatchObject([{ reactions: given }, { body: FIRST }]);
      await notify(reaction(customer, id, '❤️', '20'), reaction(customer, id, '👍', '10'));
      expect(await messagesOf(conversation)).toMatchObject([{ reactions: [{ emoji: '❤️' }] }, {}]);
      await notify(reaction(customer, id, undefined, '30'), reaction(customer, original.id, '', '30'));
      expect(await messagesOf(conversation)).toMatchObject([{ reactions: [] }, { reactions: [] }]);
      expect(await shop.conversationWith(customer)).toMatchObject({ status: 'CLOSED' });
    });

    it('of somebody else changes nothing', async () => {
      const { original, conversation } = await write();
      const other = await write('Somebody else');
      await notify(reaction(other.customer, original.id, '👎'));
      expect(await messagesOf(conversation)).toMatchObject([{ reactions: [] }]);
      expect(await shop.bodiesOf(other.conversation)).toEqual(['Somebody else']);
    });
  });

  it('is in an export and goes with the contact', async () => {
    const marker = `trace ${numbers}`;
    const { customer, original, conversation } = await write(`first ${marker}`);
    await notify(edit(customer, original.id, `second ${marker}`), reaction(customer, original.id, '🦩'));
    await notify(edit(customer, 'wamid.never', `never ${marker}`));
    const exported = [];
    const contactId = conversation.contact.id;
    for await (const line of service.app
      .get(ContactExportService)
      .export(shop.workspace.id, contactId, SYSTEM))
      exported.push(line);
    expect(exported).toContainEqual(
      expect.objectContaining({
        type: 'message',
        body: `second ${marker}`,
        firstBody: `first ${marker}`,
        reactions: [{ senderType: 'CUSTOMER', emoji: '🦩' }],
      }),
    );
    const erasure = await erasuresOf(service).start(shop.workspace.id, contactId, SYSTEM);
    await completeErasure(service, shop.workspace.id, erasure);
    await notify(edit(customer, original.id, `third ${marker}`, '99'));
    expect(await tracesIn(service, [marker, '🦩'])).toEqual([]);
  }, 60_000);

  describe('over Instagram', () => {
    it('is an edit by its number, an unsent message and a reaction (public reports 6 and 7)', async () => {
      const account = await MessagingChannel.connect(service, instagram, 'INSTAGRAM');
      const customer = newCustomerId();
      const event = (what: object) => instagram.event(account.accountId, customer, what);
      expect(instagram.subscriptions.get(account.accountId)).toEqual(
        expect.arrayContaining(['message_edit', 'message_reactions']),
      );
      const mid = 'i_1';
      await account.notify(event({ message: { mid, text: 'my card is 4111 1111' } }));
      const changes = [
        { message_edit: { mid, text: 'my card is 4111 1111', num_edit: 0 } },
        { message_edit: { mid, text: 'third', num_edit: 2 } },
        { message_edit: { mid, text: 'second', num_edit: 1 } },
        { message_edit: { mid, num_edit: 0 } },
        { reaction: { mid, action: 'react', reaction: 'love', emoji: '❤' } },
      ];
      for (const change of changes) expect(await account.notify(event(change))).toBe(200);
      const read = async () => {
        const [message] = await account.messagesWith(customer);
        const [row] = await service.query('SELECT body, first_body, reactions FROM messages WHERE id = $1', [
          message!.id,
        ]);
        return row;
      };
      expect(await read()).toEqual({ body: 'third', first_body: 'my card is 4111 1111', reactions: ['❤'] });
      await account.notify(event({ reaction: { mid, action: 'unreact' } }));
      expect(await read()).toMatchObject({ reactions: null });
      await account.notify(event({ message: { mid, is_deleted: true } }));
      expect(await read()).toEqual({ body: '', first_body: null, reactions: null });
      expect(await tracesIn(service, ['my card is 4111 1111'])).toEqual([]);
      expect(await account.messagesWith(customer)).toHaveLength(1);
    });

    it.each(['comments', 'live_comments', 'mentions'])('is none of %s (public report 7)', async (field) => {
      const account = await MessagingChannel.connect(service, instagram, 'INSTAGRAM');
      const value = { id: '1', from: { id: '2', username: 'ana' }, text: 'Nice', media: { id: '3' } };
      const entry = [{ id: account.accountId, time: Date.now(), changes: [{ field, value }] }];
      expect(await instagram.notify(account.hook, { object: 'instagram', entry })).toBe(200);
      expect(
        await service.query('SELECT FROM messages WHERE tenant_id = $1', [account.workspace.id]),
      ).toEqual([]);
    });
  });
});
