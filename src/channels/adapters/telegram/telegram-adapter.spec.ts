import { telegramOutcome } from './telegram-adapter';
import { readUpdate } from './telegram-update';

const CHAT = 5512345;

const outcome = (status: number, body: unknown, headers: Record<string, unknown> = {}) =>
  telegramOutcome({ kind: 'answered', status, headers, body }, CHAT);

const refusal = (status: number, description: string, parameters?: object) =>
  outcome(status, { ok: false, error_code: status, description, parameters });

describe("Telegram's answers", () => {
  it('name the sent message', () => {
    const result = { message_id: 78, chat: { id: CHAT, type: 'private' }, date: 1749416400, text: 'Hi' };
    expect(outcome(200, { ok: true, result })).toEqual({ kind: 'SENT', providerId: '5512345:78' });
  });

  it.each([
    [401, 'Unauthorized', 'REAUTH'],
    [403, 'Forbidden: bot was blocked by the user', 'TERMINAL'],
    [400, 'Bad Request: chat not found', 'TERMINAL'],
    [429, 'Too Many Requests', 'RETRY'],
    [500, 'Internal Server Error', 'RETRY'],
    [502, 'Bad Gateway', 'RETRY'],
    [504, 'Gateway Timeout', 'RETRY'],
  ])('%i %s: %s', (status, description, kind) => {
    expect(refusal(status, description)).toMatchObject({
      kind,
      fault: { providerCode: String(status), message: description },
    });
  });

  it('set the delay before a retry', () => {
    expect(refusal(429, 'Too Many Requests: retry after 5', { retry_after: 5 })).toMatchObject({
      kind: 'RETRY',
      afterMs: 5000,
      concerns: 'connection',
    });
    expect(outcome(503, 'Service Unavailable', { 'retry-after': '7' })).toMatchObject({
      kind: 'RETRY',
      afterMs: 7000,
    });
  });

  it('make the outcome UNKNOWN when they are unreadable', () => {
    expect(outcome(200, '<html>Welcome to our Wi-Fi</html>')).toMatchObject({ kind: 'UNKNOWN' });
  });
});

describe("A Telegram update's", () => {
  const from = { id: CHAT, is_bot: false, first_name: 'Ana', last_name: 'Ruiz', username: 'ana_r' };
  const chat = { id: CHAT, type: 'private', first_name: 'Ana' };
  const read = (message: object) =>
    readUpdate('7000001', {
      update_id: 912345,
      message: { message_id: 77, from, chat, date: 1749416383, ...message },
    });

  it('text is read', () => {
    expect(read({ text: 'Is it in stock?' })).toEqual({
      kind: 'message',
      accountId: '7000001',
      providerIds: ['5512345:77', 'update:912345'],
      customer: { externalId: '5512345', name: 'Ana Ruiz', phone: null },
      body: 'Is it in stock?',
      metadata: null,
    });
  });

  it.each([
    ['[image]', { photo: [{ file_id: 'p' }] }],
    ['[image] Our new shop', { photo: [{ file_id: 'p' }], caption: 'Our new shop' }],
    ['[animation]', { animation: { file_id: 'a' }, document: { file_name: 'a.mp4' } }],
    ['[video]', { video: { file_id: 'v' } }],
    ['[voice message]', { voice: { file_id: 'v' } }],
    ['[audio] Song', { audio: { file_id: 'a', title: 'Song' } }],
    ['[sticker] 👍', { sticker: { file_id: 's', emoji: '👍' } }],
    ['[document] invoice.pdf', { document: { file_id: 'd', file_name: 'invoice.pdf' } }],
    ['[location] 40.4, -3.7', { location: { latitude: 40.4, longitude: -3.7 } }],
    ['[location] Prado', { venue: { title: 'Prado' }, location: { latitude: 40.4, longitude: -3.7 } }],
    [
      '[contact] Bea Sanz, 34600',
      { contact: { phone_number: '34600', first_name: 'Bea', last_name: 'Sanz' } },
    ],
    ['[poll] Which?', { poll: { question: 'Which?' } }],
    ['[dice] 6', { dice: { emoji: '🎲', value: 6 } }],
    ['[hologram beam]', { hologram_beam: { file_id: 'h' } }],
    ['[location]', { location: 'nowhere' }],
    ['[message]', {}],
  ])('other kinds are described: %s', (body, message) => {
    expect(read(message)).toMatchObject({ body, metadata: { message_id: 77, ...message } });
  });

  it.each([
    [
      'a post in a channel',
      { update_id: 1, channel_post: { message_id: 7, chat: { id: -1, type: 'channel' } } },
    ],
    ['a bot', { update_id: 1, message: { message_id: 7, from: { ...from, is_bot: true }, chat, text: 'x' } }],
    ['no number', { update_id: 1, message: { from, chat, text: 'x' } }],
    ['a list', []],
    ['null', null],
    ['text', 'text'],
    ['a message that is text', { update_id: 1, message: 'x' }],
  ])('message is none: %s', (_, update) => expect(readUpdate('7000001', update)).toBeNull());
});
