import { readNotification } from './whatsapp-notification';

const NUMBER = '106540352242922';
const CUSTOMER = '16505551234';
const OWN_ID = '019ab3f2-3b4c-7d5e-8f60-718293a4b5c6';

const change = (value: object, field = 'messages') => ({
  field,
  value: {
    messaging_product: 'whatsapp',
    metadata: { display_phone_number: '15550783881', phone_number_id: NUMBER },
    ...value,
  },
});
const notification = (...changes: object[]) => ({
  object: 'whatsapp_business_account',
  entry: changes.map((one) => ({ id: '102290129340398', changes: [one] })),
});
const contacts = [{ profile: { name: 'Sheena Nelson' }, wa_id: CUSTOMER }];
const text = { from: CUSTOMER, id: 'wamid.1', timestamp: '1749416383', type: 'text', text: { body: 'Hi' } };

describe("A WhatsApp notification's", () => {
  it('text is read', () => {
    expect(readNotification(notification(change({ contacts, messages: [text] })))).toEqual([
      {
        kind: 'message',
        accountId: NUMBER,
        providerIds: ['wamid.1'],
        customer: { externalId: CUSTOMER, name: 'Sheena Nelson', phone: '+16505551234' },
        at: new Date('2025-06-08T20:59:43Z'),
        body: 'Hi',
        metadata: null,
      },
    ]);
  });

  it('entries and changes are all read, except those of other fields', () => {
    const second = { ...text, id: 'wamid.2' };
    const events = readNotification({
      entry: [
        { id: '1', changes: [change({ messages: [text, second] }), change({}, 'account_update')] },
        { id: '2', changes: [change({ statuses: [{ id: 'wamid.3', status: 'sent' }] })] },
      ],
    });
    expect(events).toMatchObject([
      { providerIds: ['wamid.1'] },
      { providerIds: ['wamid.2'] },
      { kind: 'receipt', providerId: 'wamid.3' },
    ]);
  });

  it.each(['constructor', 'toString', '__proto__'])('type %s is like any unknown type', (name) => {
    const value = { messages: [{ ...text, type: name }], statuses: [{ id: 'wamid.3', status: name }] };
    expect(readNotification(notification(change(value)))).toMatchObject([
      { kind: 'message', body: `[${name.replaceAll('_', ' ')}]` },
    ]);
  });

  it('customers without a phone number have their business-scoped id', () => {
    const anonymous = { ...text, from: undefined };
    const given = {
      contacts: [{ profile: { name: 'Pablo', username: 'pablo' }, user_id: 'US.13491208655302741918' }],
      messages: [{ ...anonymous, from_user_id: 'US.13491208655302741918' }],
    };
    expect(readNotification(notification(change(given)))).toMatchObject([
      { customer: { externalId: 'US.13491208655302741918', name: 'Pablo', phone: null } },
    ]);
  });

  it('customers each get their own name', () => {
    const other = { ...text, id: 'wamid.2', from: '34600111222' };
    const both = [{ profile: { name: 'Ana' }, wa_id: '34600111222' }, ...contacts];
    const events = readNotification(notification(change({ contacts: both, messages: [text, other] })));
    expect(events).toMatchObject([{ customer: { name: 'Sheena Nelson' } }, { customer: { name: 'Ana' } }]);
  });

  it.each([
    ['[image] Our shop', { type: 'image', image: { id: '1', caption: 'Our shop' } }],
    ['[video]', { type: 'video', video: { id: '1' } }],
    ['[audio]', { type: 'audio', audio: { id: '1' } }],
    ['[voice message]', { type: 'audio', audio: { id: '1', voice: true } }],
    ['[document] invoice.pdf', { type: 'document', document: { id: '1', filename: 'invoice.pdf' } }],
    ['[sticker]', { type: 'sticker', sticker: { id: '1' } }],
    ['[location] 40.4, -3.7', { type: 'location', location: { latitude: 40.4, longitude: -3.7 } }],
    ['[location] Prado, Madrid', { type: 'location', location: { name: 'Prado', address: 'Madrid' } }],
    ['[location]', { type: 'location', location: { latitude: 40.4 } }],
    ['[contact] Bea Sanz', { type: 'contacts', contacts: [{ name: { formatted_name: 'Bea Sanz' } }] }],
    ['Yes, please', { type: 'button', button: { text: 'Yes, please', payload: 'yes' } }],
    ['Blue', { type: 'interactive', interactive: { button_reply: { id: 'b', title: 'Blue' } } }],
    ['Red', { type: 'interactive', interactive: { list_reply: { id: 'r', title: 'Red' } } }],
    ['[form]', { type: 'interactive', interactive: { nfm_reply: { response_json: '{}' } } }],
    ['[order]', { type: 'order', order: { product_items: [] } }],
    [
      '[unsupported message] poll',
      { type: 'unsupported', unsupported: { type: 'poll' }, errors: [{ title: 'Unknown' }] },
    ],
    ['[unsupported message] Unknown', { type: 'unsupported', errors: [{ code: 131051, title: 'Unknown' }] }],
    ['[request welcome]', { type: 'request_welcome' }],
    ['[message]', { type: { image: true }, image: null }],
    ['[text]', { type: 'text', text: 'not an object' }],
  ])('other kinds are described: %s', (body, message) => {
    const given = { from: CUSTOMER, id: 'wamid.1', ...message };
    const [event] = readNotification(notification(change({ contacts, messages: [given] })));
    expect(event).toMatchObject({ kind: 'message', body, metadata: given });
  });

  const readOne = (message: object) => {
    const given = { from: CUSTOMER, id: 'wamid.1', timestamp: '1749416383', ...message };
    return readNotification(notification(change({ contacts, messages: [given] })))[0];
  };
  const form = (nfm_reply: object) => ({
    type: 'interactive',
    interactive: { type: 'nfm_reply', nfm_reply },
  });
  const items = [
    { product_retailer_id: 'SKU-1', quantity: '2', item_price: 9.5, currency: 'EUR' },
    { product_retailer_id: 'SKU-2', quantity: 1, item_price: '30', currency: 'EUR' },
  ];

  it.each([
    [
      '[form] date: 2026-11-20\ntime: 10:30\nextras: parking, breakfast\nnewsletter: false',
      form({
        name: 'flow',
        body: 'Sent',
        response_json:
          '{"flow_token":"t-1","date":"2026-11-20","time":"10:30","extras":["parking","breakfast"],"newsletter":false}',
      }),
    ],
    [
      '[form] Carrer Major 1\nvalues city: Valencia\nvalues pin code: 46001',
      form({
        name: 'address_message',
        body: 'Carrer Major 1',
        response_json: '{"values":{"city":"Valencia","pin code":46001}}',
      }),
    ],
    ['[form] not { JSON', form({ name: 'flow', body: 'Sent', response_json: 'not { JSON' })],
    [
      '[form] guests 0 name: Ana\nguests 1 name: Bea',
      form({ name: 'flow', response_json: '{"guests":[{"name":"Ana"},{"name":"Bea"}]}' }),
    ],
    [
      '[call permission] response: accept\nis_permanent: false',
      {
        type: 'interactive',
        interactive: {
          type: 'call_permission_reply',
          call_permission_reply: { response: 'accept', is_permanent: false },
        },
      },
    ],
    [
      '[order] Quickly, please\n2 × SKU-1, 9.5 EUR\n1 × SKU-2, 30 EUR',
      { type: 'order', order: { catalog_id: '1', text: 'Quickly, please', product_items: items } },
    ],
  ])('shows the answers of a form or an order (public report 11): %s', (body, message) => {
    expect(readOne(message)).toMatchObject({ kind: 'message', body, metadata: message });
  });

  it.each([
    [
      '[contact] Bea Sanz, +34 600 22 33 44, bea@example.com\nAna',
      [
        {
          name: { formatted_name: 'Bea Sanz' },
          phones: [{ phone: '+34 600 22 33 44', wa_id: '34600223344' }],
          emails: [{ email: 'bea@example.com' }],
        },
        { name: { formatted_name: 'Ana' }, phones: null },
      ],
    ],
    ['[contact] +34 600 22 33 44', [{ phones: [{ phone: '+34 600 22 33 44' }, null, {}] }]],
  ])('shows the numbers on cards of contacts (chatwoot#6173, wacli#214): %s', (body, cards) => {
    expect(readOne({ type: 'contacts', contacts: cards })).toMatchObject({ kind: 'message', body });
  });

  it('shows from which advertisement or product a message comes (chatwoot#13995, #12560)', () => {
    const given = { type: 'text', text: { body: 'More, please' } };
    const referral = {
      source_url: 'https://fb.me/1',
      source_type: 'ad',
      headline: 'Summer sale',
      ctwa_clid: 'x',
    };
    expect(readOne({ ...given, referral })).toMatchObject({
      body: 'More, please\n[referral] Summer sale https://fb.me/1',
      metadata: { referral },
    });
    const context = { from: NUMBER, referred_product: { catalog_id: '1', product_retailer_id: 'SKU-7' } };
    expect(readOne({ ...given, context })).toMatchObject({ body: 'More, please\n[product] SKU-7' });
    for (const referral of [null, 'ad', {}, { headline: 7e400 }])
      expect(readOne({ ...given, referral })).toMatchObject({ body: 'More, please', metadata: null });
  });

  it.each(['customer_identity_changed', 'user_something', undefined])(
    'takes no system message for the customer’s words (netflie#120): %s',
    (type) =>
      expect(
        readOne({ type: 'system', system: { body: 'Ana has changed something', type } }),
      ).toBeUndefined(),
  );

  it('describes an answer of any kind by its own name (pywa payment_status)', () => {
    const payment = { reference_id: 'R-1', status: 'captured' };
    expect(readOne({ type: 'interactive', interactive: { type: 'payment', payment } })).toMatchObject({
      body: '[payment] reference_id: R-1\nstatus: captured',
    });
    expect(readOne({ type: 'interactive', interactive: { type: 'toString' } })).toMatchObject({
      body: '[toString]',
    });
  });

  it('takes a sender with and without a plus for one (chatwoot#13636)', () => {
    expect(readOne({ ...text, from: `+${CUSTOMER}` })).toMatchObject({
      customer: { externalId: CUSTOMER, phone: `+${CUSTOMER}` },
    });
  });

  const about = { accountId: NUMBER, customerIds: [CUSTOMER], providerId: 'wamid.0' };

  it('an edit has the new text, or the new caption (public report 5)', () => {
    const edit = (message: unknown) => ({
      type: 'edit',
      edit: { original_message_id: 'wamid.0', message },
    });
    const image = { type: 'image', image: { id: '7', caption: 'Ours' } };
    expect(readOne(edit({ type: 'text', text: { body: '10 euro' }, context: { id: 'wamid.9' } }))).toEqual({
      ...about,
      kind: 'edit',
      number: 1749416383,
      body: '10 euro',
      metadata: null,
    });
    const edited = { kind: 'edit', body: '[image] Ours', caption: 'Ours', metadata: image };
    expect(readOne(edit(image))).toMatchObject(edited);
    for (const message of [undefined, null, {}, 'text', { type: {} }])
      expect(readOne(edit(message))).toBeUndefined();
    expect(readOne({ type: 'edit' })).toBeUndefined();
  });

  it('a revoked message is unsent (public report 5)', () => {
    const revoke = { original_message_id: 'wamid.0' };
    expect(readOne({ type: 'revoke', revoke })).toEqual({ ...about, kind: 'unsend' });
    expect(readOne({ type: 'revoke', revoke: {} })).toBeUndefined();
  });

  it.each([{}, { emoji: '' }, { emoji: ' ' }, { emoji: null }])(
    'a reaction taken back has none (public report 8): %j',
    (none) => {
      const reaction = { message_id: 'wamid.0', ...none };
      expect(readOne({ type: 'reaction', reaction })).toEqual({
        ...about,
        kind: 'reaction',
        number: 1749416383,
        emojis: [],
        message: null,
      });
    },
  );

  it('a reaction names its message, and can be a message itself', () => {
    const reaction = { message_id: 'wamid.0', emoji: '👍' };
    expect(readOne({ type: 'reaction', reaction })).toMatchObject({
      kind: 'reaction',
      emojis: ['👍'],
      message: { kind: 'message', providerIds: ['wamid.1'], body: '[reaction] 👍' },
    });
  });

  it.each(['text', 'edit', 'revoke', 'reaction'])(
    'a %s in a group is the group’s (public report 9)',
    (type) => {
      expect(readOne({ type, group_id: 'Y2FwaV9ncm91cDo', text: { body: 'hello group' } })).toEqual({
        kind: 'group',
        accountId: NUMBER,
      });
    },
  );

  it.each([
    ['sent', 'SENT'],
    ['delivered', 'DELIVERED'],
    ['read', 'READ'],
    ['played', 'READ'],
  ])('status %s means %s', (status, expected) => {
    const given = { id: 'wamid.1', status, recipient_id: CUSTOMER, biz_opaque_callback_data: OWN_ID };
    expect(readNotification(notification(change({ statuses: [given] })))).toEqual([
      {
        kind: 'receipt',
        accountId: NUMBER,
        providerId: 'wamid.1',
        messageId: OWN_ID,
        status: expected,
        fault: null,
      },
    ]);
  });

  it.each([
    [131047, 'WINDOW'],
    [131026, 'TERMINAL'],
    [130429, 'TERMINAL'],
  ])('failure with %i means %s', (code, kind) => {
    const errors = [{ code, title: 'No', message: 'No', error_data: { details: 'Not this time.' } }];
    const statuses = [{ id: 'wamid.1', status: 'failed', errors }];
    expect(readNotification(notification(change({ statuses })))).toMatchObject([
      { status: 'FAILED', fault: { kind, providerCode: String(code), message: 'No: Not this time.' } },
    ]);
  });

  it.each([
    ["'; --", "'; --"],
    ['', null],
    [{ id: OWN_ID }, null],
    [undefined, null],
  ])('the own id %j is read as %j', (given, messageId) => {
    const statuses = [{ id: 'wamid.1', status: 'sent', biz_opaque_callback_data: given }];
    expect(readNotification(notification(change({ statuses })))).toMatchObject([{ messageId }]);
  });

  it.each([
    ['null', null],
    ['a list', []],
    ['text', 'entry'],
    ['no entries', { entry: 'all' }],
    ['empty entries', { entry: [null, 1, { changes: [null, { field: 'messages' }] }] }],
    ['a message without a sender', notification(change({ messages: [{ id: 'wamid.1', type: 'text' }] }))],
    ['a message without an id', notification(change({ messages: [{ from: CUSTOMER, type: 'text' }] }))],
    ['an unknown status', notification(change({ statuses: [{ id: 'wamid.1', status: 'deleted' }] }))],
    ['no number', notification({ field: 'messages', value: { messages: [text] } })],
    ['errors alone', notification(change({ errors: [{ code: 130429 }] }))],
  ])('content is ignored when it is %s', (_, body) => expect(readNotification(body)).toEqual([]));
});
