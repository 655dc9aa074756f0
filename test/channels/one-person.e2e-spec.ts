import { SYSTEM } from '../../src/access/principal';
import { ContactErasuresService } from '../../src/privacy/contact-erasures.service';
import { ChannelWorkspace } from '../support/channel-workspace';
import { eventsOf } from '../support/events';
import { TestService } from '../support/service';
import { WhatsAppSimulator } from '../support/simulators/whatsapp';
import { waitFor } from '../support/wait';

const APP_SECRET = '0123456789abcdef0123456789abcdef';

/** Ids by which WhatsApp names a customer in one notification. */
interface Ids {
  phone?: string;
  user?: string;
  parent?: string;
}

describe('One person is one contact', () => {
  let whatsapp: WhatsAppSimulator;
  let service: TestService;
  let shop: ChannelWorkspace;
  let phoneNumberId: string;
  let numbers = 10_801;
  let people = 34_600_111_000;

  beforeAll(async () => {
    whatsapp = await new WhatsAppSimulator().start();
    service = await TestService.create({ role: 'all', env: { META_GRAPH_URL: whatsapp.url } });
    whatsapp.hookOrigin = service.baseUrl;
  });
  beforeEach(async () => {
    phoneNumberId = String(++numbers);
    const credentials = { phoneNumberId, accessToken: 'EAAGsimulatedToken', appSecret: APP_SECRET };
    shop = await ChannelWorkspace.connect(service, 'WHATSAPP', credentials);
  });

  const nextPhone = () => String(++people);
  const nextUser = () => `ES.${++people}`;

  async function notify(value: object, field = 'messages'): Promise<void> {
    const metadata = { display_phone_number: '15550783881', phone_number_id: phoneNumberId };
    const change = { field, value: { messaging_product: 'whatsapp', metadata, ...value } };
    const hook = { url: shop.connection.hookUrl, appSecret: APP_SECRET };
    expect(await whatsapp.notify(hook, WhatsAppSimulator.envelope([change]))).toBe(200);
  }

  function noticeOf({ phone, user, parent }: Ids, text: string) {
    const message = whatsapp.message(phone!, text, { from_user_id: user, from_parent_user_id: parent });
    const contact = { profile: { name: 'Ana' }, wa_id: phone, user_id: user, parent_user_id: parent };
    return { contacts: [contact], messages: [message] };
  }

  const write = (ids: Ids, text: string) => notify(noticeOf(ids, text));

  const secondsAgo = (seconds: number) => String(Math.floor(Date.now() / 1000) - seconds);

  const changeOf = (from: string | undefined, system: object, timestamp = secondsAgo(0)) => ({
    messages: [whatsapp.message(from!, '', { type: 'system', text: undefined, system, timestamp })],
  });

  async function contacts(): Promise<any[]> {
    const listed = await shop.tenant.client.all('/contacts', 200);
    return listed.filter(({ id }) => id !== shop.tenant.conversation.contact.id);
  }

  async function onlyContact(): Promise<any> {
    const listed = await contacts();
    expect(listed).toHaveLength(1);
    return listed[0];
  }

  async function onlyConversation(): Promise<any> {
    const listed = await shop.tenant.client.all('/conversations?channel=WHATSAPP', 200);
    expect(listed).toHaveLength(1);
    return listed[0];
  }

  const idsOf = ({ identities }: any) => identities.map(({ externalId }: any) => externalId).sort();

  describe('whose phone number and business-scoped id come together and apart', () => {
    it('as the number, and then without it (public report 1)', async () => {
      const [phone, user] = [nextPhone(), nextUser()];
      await write({ phone, user }, 'with phone');
      await write({ user }, 'phone hidden');
      expect(idsOf(await onlyContact())).toEqual([phone, user].sort());
      const conversation = await onlyConversation();
      expect(await shop.bodiesOf(conversation)).toEqual(['with phone', 'phone hidden']);
      await shop.delivered(await shop.send(conversation), 'SENT');
      expect(whatsapp.sent.at(-1)!.to).toBe(user);
    });

    it('without the number, and then with it (public report 1)', async () => {
      const [phone, user] = [nextPhone(), nextUser()];
      await write({ user }, 'phone hidden');
      await write({ phone, user }, 'with phone');
      await write({ phone }, 'the number alone');
      const contact = await onlyContact();
      expect(contact).toMatchObject({ phone: `+${phone}` });
      expect(idsOf(contact)).toEqual([phone, user].sort());
      expect(await shop.bodiesOf(await onlyConversation())).toHaveLength(3);
      const [updated] = await eventsOf(service, shop.workspace, 'contact.updated');
      expect(updated).toMatchObject({ changed: ['identities', 'phone'] });
    });

    it('with the id of a parent business, which alone leads to the contact too', async () => {
      const [phone, user, parent] = [nextPhone(), nextUser(), `ES.ENT.${++people}`];
      await write({ phone, user, parent }, 'all three');
      await write({ user: parent }, 'the parent alone');
      expect(idsOf(await onlyContact())).toEqual([phone, user, parent].sort());
      await onlyConversation();
    });

    it('in one body, in order', async () => {
      const [phone, user] = [nextPhone(), nextUser()];
      const [first, second] = [noticeOf({ user }, 'first'), noticeOf({ phone, user }, 'second')];
      const messages = [...first.messages, ...second.messages];
      await notify({ contacts: [...first.contacts, ...second.contacts], messages });
      await onlyContact();
      expect(await shop.bodiesOf(await onlyConversation())).toEqual(['first', 'second']);
    });

    it('at the same moment, in both forms', async () => {
      const [phone, user] = [nextPhone(), nextUser()];
      const forms: Ids[] = [{ phone, user }, { user }, { phone }];
      await write({ phone, user }, 'first');
      await Promise.all([0, 1, 2].flatMap(() => forms).map((ids, at) => write(ids, `message ${at}`)));
      await onlyContact();
      expect(await shop.bodiesOf(await onlyConversation())).toHaveLength(10);
    });
  });

  describe('who was two contacts', () => {
    async function apart() {
      const [phone, user] = [nextPhone(), nextUser()];
      await write({ phone }, 'by number');
      await write({ user }, 'by id');
      const [younger, older] = await contacts();
      return { phone, user, older, younger };
    }

    it('is merged when a message names both ids', async () => {
      const { phone, user, older, younger } = await apart();
      await write({ phone, user }, 'by both');
      const contact = await onlyContact();
      expect(contact.id).toBe(older.id);
      expect(idsOf(contact)).toEqual([phone, user].sort());
      const conversations = await shop.conversationsWith(phone);
      const texts = await Promise.all(conversations.map((one) => shop.bodiesOf(one)));
      expect(texts.flat().sort()).toEqual(['by both', 'by id', 'by number']);
      expect(await eventsOf(service, shop.workspace, 'contact.merged')).toEqual([
        { contactId: older.id, mergedContactId: younger.id },
      ]);
    });

    it('goes on in one conversation', async () => {
      const { phone, user } = await apart();
      await write({ phone, user }, 'by both');
      await write({ phone }, 'by number again');
      await write({ user }, 'by id again');
      const [latest] = await shop.conversationsWith(phone);
      expect((await shop.bodiesOf(latest)).slice(-3)).toEqual(['by both', 'by number again', 'by id again']);
    });

    it('is merged by hooks at the same moment, each of which names two of three ids', async () => {
      const { phone, user, older } = await apart();
      const parent = `ES.ENT.${++people}`;
      const pairs: Ids[] = [
        { phone, user },
        { user, parent },
        { phone, user: parent },
      ];
      await Promise.all([...pairs, ...pairs].map((ids, at) => write(ids, `message ${at}`)));
      const contact = await onlyContact();
      expect([contact.id, idsOf(contact)]).toEqual([older.id, [phone, user, parent].sort()]);
      expect(await eventsOf(service, shop.workspace, 'contact.merged')).toHaveLength(1);
    });

    it('keeps the attributes of the older contact where both have too many', async () => {
      const [phone, user] = [nextPhone(), nextUser()];
      const attributesOf = (name: string) =>
        Object.fromEntries([['both', name], ...Array.from({ length: 49 }, (_, n) => [name + n, n])]);
      for (const [name, externalId] of [['older', phone] as const, ['younger', user] as const]) {
        const identity = { channel: 'WHATSAPP', externalId };
        await shop.tenant.client.post('/contacts', { attributes: attributesOf(name), identity });
      }
      await write({ phone, user }, 'by both');
      expect((await onlyContact()).attributes).toEqual(attributesOf('older'));
    });

    it('is found by the id of either', async () => {
      const { phone, user, older, younger } = await apart();
      await write({ phone, user }, 'by both');
      const { client } = shop.tenant;
      expect((await client.get(`/contacts/${younger.id}`)).body.id).toBe(older.id);
      const edited = await client.patch(`/contacts/${younger.id}`, { email: 'ana@example.com' });
      expect(edited.body).toMatchObject({ id: older.id, email: 'ana@example.com' });
      const listed = await client.all(`/conversations?contactId=${younger.id}`, 200);
      expect(listed).toEqual(await client.all(`/conversations?contactId=${older.id}`, 200));
      expect(listed).not.toEqual([]);
    });
  });

  describe('whose number is given out again', () => {
    it('to a new person, who takes the number along', async () => {
      const [phone, user, other] = [nextPhone(), nextUser(), nextUser()];
      await write({ phone, user }, 'from Ana');
      await write({ phone, user: other }, 'from Bea');
      const [second, first] = await contacts();
      expect([idsOf(first), idsOf(second)]).toEqual([[user], [phone, other].sort()]);
      await write({ user }, 'from Ana again');
      await write({ phone }, 'from Bea again');
      const [ana] = await shop.conversationsWith(user);
      expect(await shop.bodiesOf(ana)).toEqual(['from Ana', 'from Ana again']);
    });

    it('to a person whom the workspace knows, and nobody is merged', async () => {
      const [phone, user, other] = [nextPhone(), nextUser(), nextUser()];
      await write({ phone, user }, 'from Ana');
      await write({ user: other }, 'from Bea');
      await write({ phone, user: other }, 'from Bea, with the number');
      expect(await contacts()).toHaveLength(2);
      expect(await eventsOf(service, shop.workspace, 'contact.merged')).toEqual([]);
    });

    it('and answers to the former holder do not go to the number', async () => {
      const [phone, user] = [nextPhone(), nextUser()];
      await write({ phone, user }, 'from Ana');
      const ana = await onlyConversation();
      await write({ phone, user: nextUser() }, 'from Bea');
      await shop.delivered(await shop.send(ana), 'SENT');
      expect(whatsapp.sent.at(-1)!.to).toBe(user);
    });

    it('and a late status of the former holder does not take it back', async () => {
      const [phone, user, other] = [nextPhone(), nextUser(), nextUser()];
      await write({ phone, user }, 'from Ana');
      await shop.delivered(await shop.send(await onlyConversation()), 'SENT');
      const status = whatsapp.status(whatsapp.sent.at(-1)!, 'read');
      await write({ phone, user: other }, 'from Bea');
      await notify({ statuses: [{ ...status, recipient_user_id: user }] });
      const [second, first] = await contacts();
      expect([idsOf(first), idsOf(second)]).toEqual([[user], [phone, other].sort()]);
    });

    it('but not when a person changed it', async () => {
      const [phone, user, newPhone, newUser] = [nextPhone(), nextUser(), nextPhone(), nextUser()];
      await write({ phone, user }, 'old number');
      await notify(changeOf(phone, { wa_id: newPhone, type: 'user_changed_number' }));
      await write({ phone: newPhone, user: newUser }, 'new number, new id');
      await onlyContact();
      await write({ phone, user: nextUser() }, 'the next holder of the old number');
      expect(await contacts()).toHaveLength(2);
    });
  });

  describe('who takes over the number of somebody whom the workspace knows', () => {
    const telling = (contact: any) => [idsOf(contact), contact.phone];

    it('by a change of number: it moves with what the profile says, and nobody is merged', async () => {
      const [phone, taken] = [nextPhone(), nextPhone()];
      await write({ phone: taken }, 'from the former holder');
      const former = await onlyConversation();
      await write({ phone }, 'from Ana');
      await notify(changeOf(phone, { wa_id: taken, type: 'user_changed_number' }));
      const [ana, holder] = await contacts();
      expect([telling(ana), telling(holder)]).toEqual([
        [[phone, taken].sort(), `+${taken}`],
        [[], null],
      ]);
      await write({ phone: taken }, 'from Ana, by the new number');
      expect(await shop.bodiesOf(former)).toEqual(['from the former holder']);
      expect(await eventsOf(service, shop.workspace, 'contact.merged')).toEqual([]);
      const updates = await eventsOf(service, shop.workspace, 'contact.updated');
      expect(updates.find(({ contactId }) => contactId === holder.id)).toMatchObject({
        changed: ['identities', 'phone'],
      });
    });

    it('by a user_id_update that names the number', async () => {
      const [taken, user, newUser] = [nextPhone(), nextUser(), nextUser()];
      await write({ phone: taken }, 'from the former holder');
      await write({ user }, 'from Ana');
      const ids = { wa_id: taken, user_id: { previous: user, current: newUser } };
      await notify({ user_id_update: [{ ...ids, timestamp: secondsAgo(0) }] }, 'user_id_update');
      const [ana, holder] = await contacts();
      expect([idsOf(ana), idsOf(holder)]).toEqual([[user, newUser, taken].sort(), []]);
    });

    it('by a message: the former holder has no phone left', async () => {
      const [phone, user, other] = [nextPhone(), nextUser(), nextUser()];
      await write({ phone, user }, 'from Ana');
      await write({ phone, user: other }, 'from Bea');
      const [bea, ana] = await contacts();
      expect([telling(bea), telling(ana)]).toEqual([
        [[other, phone].sort(), `+${phone}`],
        [[user], null],
      ]);
    });

    it('and the former holder keeps a phone that is no number of the channel', async () => {
      const [phone, user] = [nextPhone(), nextUser()];
      await write({ phone, user }, 'from Ana');
      const { id } = await onlyContact();
      await shop.tenant.client.patch(`/contacts/${id}`, { phone: '+34 910 00 00 00' });
      await write({ phone, user: nextUser() }, 'from Bea');
      expect((await shop.tenant.client.get(`/contacts/${id}`)).body.phone).toBe('+34 910 00 00 00');
    });

    it('after that one has changed it, without a business-scoped id', async () => {
      const [phone, newPhone] = [nextPhone(), nextPhone()];
      await write({ phone }, 'from Ana');
      const late = noticeOf({ phone }, 'from Ana, late');
      const system = { wa_id: newPhone, type: 'user_changed_number' };
      await notify(changeOf(phone, system, secondsAgo(10)));
      late.messages[0]!.timestamp = secondsAgo(20);
      await notify(late);
      await write({ phone }, 'from Bea');
      const [bea, ana] = await contacts();
      expect([idsOf(bea), idsOf(ana)]).toEqual([[phone], [newPhone]]);
      expect(await shop.bodiesOf(await shop.conversationWith(newPhone))).toEqual([
        'from Ana',
        'from Ana, late',
      ]);
    });
  });

  describe('who changes their ids', () => {
    it('by a message with another number, which is their phone then', async () => {
      const [phone, newPhone, user] = [nextPhone(), nextPhone(), nextUser()];
      await write({ phone, user }, 'before');
      await write({ phone: newPhone, user }, 'after');
      expect(await onlyContact()).toMatchObject({ phone: `+${newPhone}` });
    });

    it('and comes back to the former number', async () => {
      const [phone, newPhone] = [nextPhone(), nextPhone()];
      await write({ phone }, 'before');
      await notify(changeOf(phone, { wa_id: newPhone, type: 'user_changed_number' }, secondsAgo(30)));
      await notify(changeOf(newPhone, { wa_id: phone, type: 'user_changed_number' }, secondsAgo(20)));
      await write({ phone }, 'back');
      expect(await onlyContact()).toMatchObject({ phone: `+${phone}` });
      expect(await shop.bodiesOf(await onlyConversation())).toEqual(['before', 'back']);
    });

    it('and whose change is told again after new ids have come: they stay', async () => {
      const [phone, newPhone, user, newUser] = [nextPhone(), nextPhone(), nextUser(), nextUser()];
      await write({ phone, user }, 'before');
      const change = changeOf(phone, { wa_id: newPhone, type: 'user_changed_number' }, secondsAgo(30));
      await notify(change);
      await write({ phone: newPhone, user: newUser }, 'after');
      await notify(change);
      await write({ phone: newPhone, user: nextUser() }, 'from the next holder');
      const [next, person] = await contacts();
      expect(idsOf(person)).toContain(newUser);
      expect(idsOf(next)).toContain(newPhone);
    });

    it('by a new number, which agents do not read of (public report 2)', async () => {
      const [phone, newPhone] = [nextPhone(), nextPhone()];
      await write({ phone }, 'from my old number');
      const change = changeOf(phone, {
        body: `User A changed from ${phone} to ${newPhone}`,
        wa_id: newPhone,
        type: 'user_changed_number',
      });
      await notify(change);
      await notify(change);
      const conversation = await onlyConversation();
      await shop.delivered(await shop.send(conversation, 'To the new number.'), 'SENT');
      expect(whatsapp.sent.at(-1)!.to).toBe(newPhone);
      await write({ phone: newPhone }, 'from my new number');
      expect(await onlyContact()).toMatchObject({ phone: `+${newPhone}` });
      expect(await shop.bodiesOf(await onlyConversation())).toEqual([
        'from my old number',
        'To the new number.',
        'from my new number',
      ]);
    });

    it.each([
      ['named before', (from: string, to: string) => ({ user_id: to, previous_user_id: from })],
      [
        'in the text alone',
        (from: string, to: string) => ({ user_id: to, body: `User Ana changed from ${from} to ${to}` }),
      ],
    ])('by a new business-scoped id, with the former one %s (public report 2)', async (_, system) => {
      const [user, newUser] = [nextUser(), nextUser()];
      await write({ user }, 'before');
      await notify(changeOf(undefined, { ...system(user, newUser), type: 'user_changed_user_id' }));
      await write({ user: newUser }, 'after');
      await onlyContact();
      expect(await shop.bodiesOf(await onlyConversation())).toEqual(['before', 'after']);
    });

    it('by a new number and a new business-scoped id at once (public report 2)', async () => {
      const [phone, user, newPhone, newUser] = [nextPhone(), nextUser(), nextPhone(), nextUser()];
      await write({ phone, user }, 'before');
      const system = { type: 'user_changed_number', wa_id: newPhone, user_id: newUser };
      const message = { from_user_id: user, type: 'system', text: undefined, system };
      await notify({ messages: [whatsapp.message(phone, '', message)] });
      await write({ phone: newPhone, user: newUser }, 'after');
      expect(await onlyContact()).toMatchObject({ phone: `+${newPhone}` });
      await write({ phone, user: nextUser() }, 'from the next holder of the number');
      expect(await shop.bodiesOf(await shop.conversationWith(newUser))).toEqual(['before', 'after']);
    });

    it('by a user_id_update (public report 2)', async () => {
      const [phone, user, newUser] = [nextPhone(), nextUser(), nextUser()];
      await write({ phone, user }, 'before');
      const update = { wa_id: phone, user_id: { previous: user, current: newUser }, timestamp: '1749416383' };
      await notify({ user_id_update: [update] }, 'user_id_update');
      await write({ user: newUser }, 'after');
      await onlyContact();
      expect(await shop.bodiesOf(await onlyConversation())).toEqual(['before', 'after']);
    });

    it('after a message from the new number has come first', async () => {
      const [phone, newPhone] = [nextPhone(), nextPhone()];
      await write({ phone }, 'old');
      await write({ phone: newPhone }, 'new');
      const system = { wa_id: newPhone, type: 'user_changed_number' };
      await notify(changeOf(phone, system, secondsAgo(60)));
      expect(idsOf(await onlyContact())).toEqual([phone, newPhone].sort());
    });

    it('twice, and the first change is repeated', async () => {
      const [first, second, third] = [nextPhone(), nextPhone(), nextPhone()];
      await write({ phone: first }, 'first');
      const change = changeOf(first, { wa_id: second, type: 'user_changed_number' });
      await notify(change);
      await notify(changeOf(second, { wa_id: third, type: 'user_changed_number' }));
      await notify(change);
      await shop.delivered(await shop.send(await onlyConversation()), 'SENT');
      expect(whatsapp.sent.at(-1)!.to).toBe(third);
    });

    it('and is unknown: nothing is stored', async () => {
      await notify(changeOf(nextPhone(), { wa_id: nextPhone(), type: 'user_changed_number' }));
      await notify(changeOf(undefined, { user_id: nextUser(), type: 'user_changed_user_id' }));
      expect(await contacts()).toEqual([]);
    });
  });

  describe('whom WhatsApp spells otherwise', () => {
    it.each([
      ['the ninth digit in Brazil', '5511987654321', '551187654321'],
      ['the 1 in Mexico', '525512345678', '5215512345678'],
      ['the 9 in Argentina', '541123456789', '5491123456789'],
    ])('as in %s (public report 3)', async (_, given, waId) => {
      const { client } = shop.tenant;
      const identity = { channel: 'WHATSAPP', externalId: given };
      const { body: contact } = await client.post('/contacts', { name: 'João', identity });
      const { body: conversation } = await client.post('/conversations', {
        contactId: contact.id,
        channel: 'WHATSAPP',
      });
      whatsapp.spellings.set(given, waId);
      await shop.delivered(await shop.send(conversation), 'SENT');
      await waitFor('the spelling to be known', async () => (await onlyContact()).identities.length === 2);
      await write({ phone: waId }, 'oi, recebi');
      await onlyContact();
      expect(await shop.bodiesOf(await onlyConversation())).toEqual(['On its way.', 'oi, recebi']);
    });

    it('in the contact of a message, beside the number of its sender', async () => {
      const [from, waId] = ['5511987650000', '551187650000'];
      const notice = noticeOf({ phone: from }, 'oi');
      await notify({ ...notice, contacts: [{ profile: { name: 'João' }, wa_id: waId }] });
      await write({ phone: waId }, 'oi de novo');
      expect(idsOf(await onlyContact())).toEqual([from, waId].sort());
      await onlyConversation();
    });

    it('in the statuses of a message, with both ids', async () => {
      const [phone, user] = [nextPhone(), nextUser()];
      await write({ phone }, 'Hi');
      const sent = await shop.send(await onlyConversation());
      await shop.delivered(sent, 'SENT');
      const status = whatsapp.status(whatsapp.sent.at(-1)!, 'delivered');
      await notify({ statuses: [{ ...status, recipient_user_id: user }] });
      expect(idsOf(await onlyContact())).toEqual([phone, user].sort());
    });

    it.each([
      '+34 600 11 22 33',
      '0034600112233',
      '+34600112233',
      '+٣٤٦٠٠١١٢٢٣٣',
      '\u202a+34\u00a0600\u2011112233\u202c',
      '34600112233',
      'whatsapp:+34600112233',
      'tel:+34-600-11-22-33',
      '+34 (0)600 11 22 33',
      '\uff0b\uff13\uff14 600112233',
    ])('as a caller writes the number: %s (public report 4)', async (externalId) => {
      const identity = { channel: 'WHATSAPP', externalId };
      const { status, body } = await shop.tenant.client.post('/contacts', { name: 'Ana', identity });
      expect({ status, identities: body.identities }).toEqual({
        status: 201,
        identities: [{ channel: 'WHATSAPP', externalId: '34600112233' }],
      });
      await write({ phone: '34600112233' }, 'Hi');
      await onlyContact();
    });

    it.each([
      ['WHATSAPP', '600 11 22 33 ext. 4'],
      ['WHATSAPP', '0600112233'],
      ['WHATSAPP', 'Ana'],
      ['TELEGRAM', '@ana'],
      ['TELEGRAM', '-100123'],
      ['MESSENGER', 'ana.r'],
      ['INSTAGRAM', '@ana'],
    ])('refuses what cannot be an id on %s: %s (public report 4)', async (channel, externalId) => {
      const { status, body } = await shop.tenant.client.post('/contacts', {
        identity: { channel, externalId },
      });
      expect(status).toBe(400);
      expect(body.error.details[0].field).toBe('identity.externalId');
      expect(await contacts()).toEqual([]);
    });

    it('as a caller writes the zero of Britain (public report 4)', async () => {
      const { client } = shop.tenant;
      const contact = { phone: '+44 (0)20 7946 0958', identity: { channel: 'WHATSAPP', externalId: '' } };
      contact.identity.externalId = contact.phone;
      const { body } = await client.post('/contacts', contact);
      expect(body.identities).toEqual([{ channel: 'WHATSAPP', externalId: '442079460958' }]);
      const found = await client.all('/contacts?q=%2B442079460958', 200);
      expect(found).toEqual([body]);
      await write({ phone: '442079460958' }, 'Hi');
      await onlyContact();
    });

    it('takes a business-scoped id', async () => {
      const identity = { channel: 'WHATSAPP', externalId: 'ES.111' };
      expect((await shop.tenant.client.post('/contacts', { identity })).body.identities).toEqual([identity]);
    });
  });

  describe('who was erased', () => {
    const erase = (id: string) =>
      service.app.get(ContactErasuresService, { strict: false }).start(shop.workspace.id, id, SYSTEM);

    it('comes back as a new contact, by either id', async () => {
      const [phone, user] = [nextPhone(), nextUser()];
      await write({ phone, user }, 'before');
      const { id } = await onlyContact();
      await erase(id);
      await write({ user }, 'after');
      await write({ phone, user }, 'after, with the number');
      const [back, erased] = await contacts();
      expect([erased.id, idsOf(erased)]).toEqual([id, []]);
      expect(idsOf(back)).toEqual([phone, user].sort());
      expect(await shop.bodiesOf(await shop.conversationWith(user))).toEqual([
        'after',
        'after, with the number',
      ]);
    });

    it('comes back as a new contact also by an id that the erasure has not reached yet', async () => {
      const [phone, user] = [nextPhone(), nextUser()];
      await write({ phone, user }, 'before');
      const { id } = await onlyContact();
      // The state of a contact with more ids than one step erases.
      await service.query('UPDATE contacts SET erased_at = now() WHERE id = $1', [id]);
      await write({ phone }, 'after');
      const identity = { channel: 'WHATSAPP', externalId: user };
      const { body: given } = await shop.tenant.client.post('/contacts', { identity });
      const [newest, back, erased] = await contacts();
      expect([newest.id, back.id, erased.id].indexOf(id)).toBe(2);
      expect([idsOf(given), idsOf(back), idsOf(erased)]).toEqual([[user], [phone], []]);
      expect(await shop.bodiesOf(await shop.conversationWith(phone))).toEqual(['after']);
    });

    it('after two contacts were merged, with all that either had', async () => {
      const [phone, user] = [nextPhone(), nextUser()];
      await write({ phone }, 'by number');
      await write({ user }, 'by id');
      const [younger, older] = await contacts();
      await write({ phone, user }, 'by both');
      await erase(younger.id);
      const rows = await service.query<{ contactId: string }>(
        'SELECT contact_id AS "contactId" FROM contact_erasures WHERE tenant_id = $1',
        [shop.workspace.id],
      );
      expect(rows.map(({ contactId }) => contactId).sort()).toEqual([older.id, younger.id].sort());
      await waitFor('the texts to be erased', async () => {
        const conversations = await shop.tenant.client.all('/conversations?channel=WHATSAPP', 200);
        const texts = await Promise.all(conversations.map((one) => shop.bodiesOf(one as { id: string })));
        return texts.flat().every((text) => text === '');
      });
      await waitFor('the profile to be erased from events', async () => {
        const events = await eventsOf(service, shop.workspace, 'contact.created');
        return events.every(({ contact }) => contact.identities.length === 0 && contact.phone === null);
      });
    });
  });
});
