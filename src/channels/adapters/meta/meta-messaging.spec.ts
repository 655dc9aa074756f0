import { InboundMessage } from '../hook-events';
import { readMessaging } from './meta-messaging';

const PAGE = '682498302938465';
const CUSTOMER = '7012345678901234';
const SENT_AT = 1749416383000;

const notification = (...messaging: object[]) => ({
  object: 'page',
  entry: [{ id: PAGE, time: SENT_AT + 500, messaging }],
});
const fromCustomer = (event: object) => ({
  sender: { id: CUSTOMER },
  recipient: { id: PAGE },
  timestamp: SENT_AT,
  ...event,
});
const fromPage = (event: object) => ({
  ...fromCustomer(event),
  sender: { id: PAGE },
  recipient: { id: CUSTOMER },
});
const read = (event: object) => readMessaging(notification(event));
const readMessage = (event: object) => {
  const events = read(fromCustomer(event));
  expect(events).toMatchObject([{ kind: 'message' }]);
  return events[0] as InboundMessage;
};

describe('a message', () => {
  it('of any type, even a key of Object, is described', () => {
    const attachments = [{ type: 'constructor' }];
    expect(readMessage({ message: { mid: 'm_1', attachments } }).body).toBe('[constructor]');
  });

  it('with text has that text as its body', () => {
    expect(readMessage({ message: { mid: 'm_AbC123', text: 'Opening hours?' } })).toEqual({
      kind: 'message',
      accountId: PAGE,
      providerIds: ['m_AbC123'],
      customer: { externalId: CUSTOMER, name: null, phone: null },
      body: 'Opening hours?',
      metadata: null,
    });
  });

  it('keeps the data beside its text', () => {
    const message = { mid: 'm_1', text: 'This one', reply_to: { mid: 'm_0' } };
    expect(readMessage({ message })).toMatchObject({ body: 'This one', metadata: message });
  });

  const url = 'https://cdn.example/1';
  it.each([
    [[{ type: 'image', payload: { url } }], '[image]'],
    [[{ type: 'image', payload: { url, sticker_id: 369239263222822 } }], '[sticker]'],
    [
      [
        { type: 'video', payload: { url } },
        { type: 'image', payload: { url } },
      ],
      '[video]\n[image]',
    ],
    [[{ type: 'audio', payload: { url } }], '[audio]'],
    [[{ type: 'file', payload: { url } }], '[file]'],
    [
      [{ type: 'location', title: 'Here', payload: { coordinates: { lat: 1.5, long: -2 } } }],
      '[location] 1.5, -2',
    ],
    [[{ type: 'fallback', title: 'A page', payload: null }], '[link] A page'],
    [[{ type: 'share', payload: { url } }], `[shared post] ${url}`],
    [[{ type: 'post', payload: { url, title: 'Autumn' } }], `[shared post] Autumn ${url}`],
    [[{ type: 'fallback', url, title: 'A page', payload: null }], `[link] A page ${url}`],
    [
      [
        {
          type: 'template',
          payload: { product: { elements: [{ title: 'Shirt' }, null, { title: 'Hat' }] } },
        },
      ],
      '[template] Shirt, Hat',
    ],
    [[{ type: 'ig_reel', payload: { reel_video_id: '1', title: 'Autumn' } }], '[reel] Autumn'],
    [[{ type: 'story_mention', payload: { url } }], '[story mention]'],
    [[{ type: 'hologram' }], '[hologram]'],
    [[{}], '[attachment]'],
    [['image', null, 7], '[message]'],
    ['image', '[message]'],
  ])('without text is described: %j', (attachments, body) => {
    const message = { mid: 'm_1', attachments };
    expect(readMessage({ message })).toMatchObject({ body, metadata: { mid: message.mid } });
  });

  it('shows what is attached to its text (chatwoot#5327, #14813; botman#411)', () => {
    const image = { type: 'image', payload: { url } };
    const link = { type: 'fallback', url, title: 'A page', payload: null };
    const read = (text: string, attachments: object[]) =>
      readMessage({ message: { mid: 'm_1', text, attachments } }).body;
    expect(read('This one?', [image, link])).toBe(`This one?\n[image]\n[link] A page ${url}`);
    expect(read(`See ${url}`, [link])).toBe(`See ${url}`);
  });

  it('shows the advertisement or product that it comes from (chatwoot#13995)', () => {
    const read = (referral: object) =>
      readMessage({ message: { mid: 'm_1', text: 'Price?', referral } }).body;
    expect(read({ source: 'ADS', ads_context_data: { ad_title: 'Summer sale' } })).toBe(
      'Price?\n[referral] Summer sale',
    );
    expect(read({ product: { id: '9' } })).toBe('Price?\n[referral] 9');
    expect(read({})).toBe('Price?');
  });

  it('that answers a story without words says so (chatwoot#13354)', () => {
    const reply_to = { story: { url, id: '1' } };
    expect(readMessage({ message: { mid: 'm_1', reply_to } }).body).toBe('[story reply]');
  });

  it('that Meta does not support says so', () => {
    expect(readMessage({ message: { mid: 'm_1', is_unsupported: true } }).body).toBe('[unsupported message]');
  });

  it.each([
    ['deleted by the page', fromPage({ message: { mid: 'm_1', is_echo: true, is_deleted: true } })],
    ['without an id', fromCustomer({ message: { text: 'Hi' } })],
    ['without a sender', { recipient: { id: PAGE }, message: { mid: 'm_1', text: 'Hi' } }],
    ['without a recipient', { sender: { id: CUSTOMER }, message: { mid: 'm_1', text: 'Hi' } }],
    ['to oneself', { ...fromPage({ message: { mid: 'm_1', text: 'Hi' } }), recipient: { id: PAGE } }],
    ['that is null', fromCustomer({ message: null })],
  ])('%s is ignored', (_, event) => {
    expect(read(event)).toEqual([]);
  });
});

describe('a change by the customer', () => {
  const about = { accountId: PAGE, customerIds: [CUSTOMER], providerId: 'm_1' };
  const readOne = (event: object) => read(fromCustomer(event))[0];

  it('is an unsent message (public report 6)', () => {
    expect(readOne({ message: { mid: 'm_1', is_deleted: true } })).toEqual({ ...about, kind: 'unsend' });
    expect(readOne({ message: { is_deleted: true } })).toBeUndefined();
  });

  it('is an edit (public report 7)', () => {
    expect(readOne({ message_edit: { mid: 'm_1', text: 'edited', num_edit: 1 } })).toEqual({
      ...about,
      kind: 'edit',
      body: 'edited',
      metadata: null,
      number: 1,
    });
    expect(readOne({ message_edit: { mid: 'm_1', text: 'as sent', num_edit: 0 } })).toMatchObject({
      number: 0,
    });
    for (const edit of [{ mid: 'm_1', num_edit: 0 }, { text: 'edited' }, {}, null])
      expect(readOne({ message_edit: edit })).toBeUndefined();
  });

  it('is a reaction, which can be a message itself', () => {
    const reaction = { mid: 'm_1', action: 'react', reaction: 'love', emoji: '❤' };
    expect(readOne({ reaction })).toMatchObject({
      ...about,
      kind: 'reaction',
      emojis: ['❤'],
      number: SENT_AT,
      message: {
        providerIds: [`reaction:m_1:${CUSTOMER}:${SENT_AT}`],
        body: '[reaction] ❤',
        metadata: { reaction },
      },
    });
    expect(readOne({ reaction: { mid: 'm_1', action: 'react', reaction: 'other' } })).toMatchObject({
      emojis: ['other'],
    });
  });

  it('is a reaction taken back (public report 8)', () => {
    const none = { kind: 'reaction', emojis: [], message: null };
    expect(readOne({ reaction: { mid: 'm_1', action: 'unreact' } })).toMatchObject(none);
    expect(readOne({ reaction: { mid: 'm_1', action: 'react', emoji: '' } })).toMatchObject(none);
  });

  it('takes back an answer to a story, or an attachment, whatever else it has', () => {
    const unsend = { ...about, kind: 'unsend' };
    const reply_to = { story: { id: '1', url: 'https://cdn.example/1' } };
    expect(readOne({ message: { mid: 'm_1', text: 'Nice', reply_to, is_deleted: true } })).toEqual(unsend);
    const attachments = [{ type: 'story_mention', payload: { url: 'https://cdn.example/1' } }];
    expect(readOne({ message: { mid: 'm_1', attachments, is_deleted: true } })).toEqual(unsend);
  });

  it('has its number as text, too', () => {
    expect(readOne({ message_edit: { mid: 'm_1', text: 'edited', num_edit: '2' } })).toMatchObject({
      number: 2,
    });
  });

  it.each(['comments', 'live_comments', 'mentions'])('is none of %s (public report 7)', (field) => {
    const value = { id: '1', from: { id: '2', username: 'ana' }, text: 'Nice', media: { id: '3' } };
    expect(
      readMessaging({ object: 'instagram', entry: [{ id: PAGE, changes: [{ field, value }] }] }),
    ).toEqual([]);
    expect(readMessaging({ object: 'instagram', entry: [{ id: PAGE, field, value }] })).toEqual([]);
  });

  it('in a group thread is the group’s (public report 9)', () => {
    const thread = { id: 't_100' };
    expect(readOne({ thread, message: { mid: 'm_1', text: 'hello group' } })).toEqual({
      kind: 'group',
      accountId: PAGE,
    });
  });
});

describe('a gesture of the customer', () => {
  it('is a button', () => {
    const postback = { mid: 'm_2', title: 'Get started', payload: 'START' };
    expect(readMessage({ postback })).toMatchObject({
      providerIds: ['m_2'],
      body: 'Get started',
      metadata: { postback },
    });
    expect(readMessage({ postback: { payload: 'START' } })).toMatchObject({
      providerIds: [`postback::${CUSTOMER}:${SENT_AT}`],
      body: '[button]',
    });
  });

  it('is a referral', () => {
    const referral = { ref: 'spring-sale', source: 'SHORTLINK', type: 'OPEN_THREAD' };
    expect(readMessage({ referral })).toMatchObject({
      providerIds: [`referral::${CUSTOMER}:${SENT_AT}`],
      body: '[referral] spring-sale',
      metadata: { referral },
    });
  });

  it.each([
    [{ source: 'ADS', ad_id: '1', ads_context_data: { ad_title: 'Sale' } }, '[referral] Sale'],
    [{ source: 'STORY_MENTION' }, '[referral] story mention'],
  ])('is a referral without a name (ig-harness-oss#20): %j', (referral, body) => {
    expect(readMessage({ referral })).toMatchObject({ body });
  });

  it.each([{ optin: { ref: '1' } }, { pass_thread_control: { new_owner_app_id: '1' } }, {}])(
    'is not %j',
    (event) => expect(read(fromCustomer(event))).toEqual([]),
  );
});

describe('an echo', () => {
  const ownId = '019ab3f2-3b4c-7d5e-8f60-718293a4b5c6';

  it.each([
    [ownId, ownId],
    ['of another app', 'of another app'],
    [undefined, null],
  ])('with metadata %s', (metadata, messageId) => {
    const message = { mid: 'm_3', text: 'On its way.', is_echo: true, app_id: 1517776481860111, metadata };
    expect(read(fromPage({ message }))).toEqual([
      {
        kind: 'echo',
        accountId: PAGE,
        customerId: CUSTOMER,
        providerId: 'm_3',
        messageId,
        body: 'On its way.',
        at: new Date(SENT_AT),
      },
    ]);
  });
});

describe('receipts', () => {
  const about = { accountId: PAGE };

  it('of Messenger name messages and a watermark', () => {
    const until = new Date(SENT_AT);
    expect(
      read(fromCustomer({ delivery: { mids: ['m_1', 7, null, 'm_2'], watermark: SENT_AT } })),
    ).toMatchObject([
      { ...about, kind: 'receipt', providerId: 'm_1', status: 'DELIVERED' },
      { ...about, kind: 'receipt', providerId: '7', status: 'DELIVERED' },
      { ...about, kind: 'receipt', providerId: 'm_2', status: 'DELIVERED' },
      { ...about, kind: 'watermark', customerId: CUSTOMER, status: 'DELIVERED', until },
    ]);
    expect(read(fromCustomer({ read: { watermark: SENT_AT } }))).toEqual([
      { ...about, kind: 'watermark', customerId: CUSTOMER, status: 'READ', until },
    ]);
  });

  it('of Instagram name one message', () => {
    expect(read(fromCustomer({ read: { mid: 'aWdfZAG1' } }))).toEqual([
      { ...about, kind: 'receipt', providerId: 'aWdfZAG1', messageId: null, status: 'READ', fault: null },
    ]);
  });

  it.each([null, 'soon', 9e15, {}])('with the invalid watermark %j are ignored', (watermark) => {
    expect(read(fromCustomer({ read: { watermark } }))).toEqual([]);
  });
});

describe('a notification', () => {
  const event = (recipient: string, mid: string) => ({
    ...fromCustomer({ message: { mid, text: mid } }),
    recipient: { id: recipient },
  });

  it('can hold several entries of several accounts', () => {
    const entry = [
      { id: PAGE, messaging: [event(PAGE, 'm_1'), event(PAGE, 'm_2')] },
      { id: '2', messaging: [event('2', 'm_3')] },
    ];
    expect(readMessaging({ object: 'page', entry })).toMatchObject([
      { accountId: PAGE, body: 'm_1' },
      { accountId: PAGE, body: 'm_2' },
      { accountId: '2', body: 'm_3' },
    ]);
  });

  it("can be a test event of Meta's dashboard", () => {
    const value = { ...event('23245', 'random_mid'), timestamp: '1527459824' };
    const body = {
      object: 'instagram',
      entry: [{ id: '0', time: 1, changes: [{ field: 'messages', value }] }],
    };
    expect(readMessaging(body)).toMatchObject([{ kind: 'message', accountId: '23245', body: 'random_mid' }]);
  });

  it.each([
    null,
    7,
    'x',
    [],
    {},
    { entry: {} },
    { entry: [null, 1, {}] },
    {
      entry: [
        { messaging: [null, 'x', { sender: 1, recipient: [], message: 'x' }], changes: [{ value: 1 }] },
      ],
    },
  ])('can be anything: %j', (body) => expect(readMessaging(body)).toEqual([]));
});
