import { readUpdate } from './telegram-update';

const BOT = '7100200300';
const CHAT = 5512345;
const chat = { id: CHAT, type: 'private', first_name: 'Ana' };
const written = {
  message_id: 77,
  from: { id: CHAT, is_bot: false, first_name: 'Ana' },
  chat,
  date: 1749416383,
};
const about = { accountId: BOT, customerIds: [String(CHAT)], providerId: `${CHAT}:77` };
const read = (update: object) => readUpdate(BOT, { update_id: 912345, ...update });

describe('a Telegram update', () => {
  it('of an edited message is an edit (public report 5)', () => {
    const edited_message = { ...written, edit_date: 1749416390, text: 'corrected' };
    expect(read({ edited_message })).toEqual({
      ...about,
      kind: 'edit',
      body: 'corrected',
      metadata: null,
      number: 1749416390,
    });
  });

  it('of an edited caption keeps what else the message has', () => {
    const edited_message = { ...written, edit_date: 1, caption: 'Ours', photo: [{ file_id: 'a' }] };
    expect(read({ edited_message })).toMatchObject({
      kind: 'edit',
      body: '[image] Ours',
      caption: 'Ours',
      metadata: { photo: [{ file_id: 'a' }] },
    });
  });

  it('of a live location is ignored as the person moves', () => {
    const location = { latitude: 39.46, longitude: -0.37, live_period: 900 };
    expect(read({ edited_message: { ...written, edit_date: 1, location } })).toBeNull();
  });

  it('of a bot’s own edited message is ignored', () => {
    const from = { id: 7100200300, is_bot: true };
    expect(read({ edited_message: { ...written, from, edit_date: 1, text: 'corrected' } })).toBeNull();
  });

  it('has all reactions that there are now (public report 8)', () => {
    const reaction = (new_reaction: object[]) => ({ chat, message_id: 77, date: 1749416400, new_reaction });
    const given = [
      { type: 'emoji', emoji: '👍' },
      { type: 'custom_emoji', custom_emoji_id: '5' },
    ];
    expect(read({ message_reaction: reaction(given) })).toEqual({
      ...about,
      kind: 'reaction',
      emojis: ['👍', 'custom emoji'],
      number: 1749416400,
      message: null,
    });
    expect(read({ message_reaction: reaction([]) })).toMatchObject({ emojis: [] });
  });

  it.each([
    ['a live location that has ended', { location: { latitude: 39.46, longitude: -0.37 } }],
    ['a location', { location: { latitude: 1, longitude: 2 }, venue: { title: 'Shop' } }],
  ])('of %s that is edited is ignored', (_, content) => {
    expect(read({ edited_message: { ...written, edit_date: 2, ...content } })).toBeNull();
  });

  it.each(['channel_post', 'edited_channel_post', 'edited_business_message', 'deleted_business_messages'])(
    'of a channel or another account is ignored: %s',
    (kind) => {
      const channel = { id: -100124, type: 'channel', title: 'News' };
      expect(read({ [kind]: { ...written, chat: channel, edit_date: 2, text: 'corrected' } })).toBeNull();
    },
  );

  it.each(['message', 'edited_message', 'message_reaction'])('of a group is the group’s: %s', (kind) => {
    const group = { id: -100123, type: 'supergroup', title: 'Friends' };
    const update = { ...written, chat: group, text: 'hello group' };
    expect(read({ [kind]: update })).toEqual({ kind: 'group', accountId: BOT });
  });

  const bodyOf = (message: object) => read({ message: { ...written, ...message } });

  it('shows the addresses that links hide (cc-connect#1207, hermes-agent#31071)', () => {
    const link = (offset: unknown, length: unknown, url: unknown = 'https://example.com') => ({
      ...{ type: 'text_link', offset, length, url },
    });
    const entities = [
      { type: 'bold', offset: 0, length: 2 },
      link(7, 4),
      link(3, 3, 'https://first.example'),
    ];
    expect(bodyOf({ text: '👍 see here!', entities })).toMatchObject({
      body: '👍 see (https://first.example) here (https://example.com)!',
      metadata: { entities },
    });
    expect(bodyOf({ caption: 'here', caption_entities: [link(0, 4)], photo: [{}] })).toMatchObject({
      body: '[image] here (https://example.com)',
    });
    for (const odd of [link(0, 99), link(-9, 2), link('x', null), link(0, 4, null), link(0, 4, ''), null])
      expect(bodyOf({ text: 'here', entities: [odd] })).toMatchObject({ body: 'here' });
  });

  it.each([
    ['[location] Bar, Street 1', { venue: { title: 'Bar', address: 'Street 1' }, location: {} }],
    [
      '[poll] Where?\nHere\nThere',
      { poll: { question: 'Where?', options: [{ text: 'Here' }, { text: 'There' }] } },
    ],
    ['[checklist] To do\nBuy milk', { checklist: { title: 'To do', tasks: [{ id: 1, text: 'Buy milk' }] } }],
    ['[form] {"size":"L"}', { web_app_data: { button_text: 'Order', data: '{"size":"L"}' } }],
    ['[game] Chess', { game: { title: 'Chess' } }],
    ['[paid media] Ours', { paid_star_count: 5, paid_media: {}, caption: 'Ours' }],
  ])('shows what a message of its kind says (wacli#214): %s', (body, message) => {
    expect(bodyOf(message)).toMatchObject({ kind: 'message', body, metadata: message });
  });

  it.each([
    ...['pinned_message', 'message_auto_delete_timer_changed', 'chat_background_set', 'forum_topic_created'],
    ...['write_access_allowed', 'connected_website', 'boost_added', 'video_chat_started'],
  ])('takes no notice of Telegram for the person’s words (driver-telegram#107): %s', (key) => {
    expect(bodyOf({ [key]: {} })).toBeNull();
  });

  it.each([{ message: null }, { edited_message: {} }, { message_reaction: { chat } }, { poll: {} }, {}])(
    'without what it needs is ignored: %j',
    (update) => {
      expect(read(update)).toBeNull();
    },
  );
});
