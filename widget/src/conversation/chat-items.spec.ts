import type { OutboxRecord } from '../outbox/outbox-record';
import type { Message } from '../protocol/types';
import { itemsOf } from './chat-items';

const message = (id: string, change: Partial<Message> = {}): Message => ({
  id,
  senderType: 'CUSTOMER',
  senderName: null,
  clientMessageId: `c${id}`,
  body: `message ${id}`,
  createdAt: '2026-11-22T10:00:00.000Z',
  delivery: { status: null },
  ...change,
});
const answer = (id: string) =>
  message(id, {
    senderType: 'AGENT',
    senderName: 'Ada',
    clientMessageId: null,
    delivery: { status: 'SENT' },
  });
const record = (clientMessageId: string, change: Partial<OutboxRecord> = {}): OutboxRecord => ({
  clientMessageId,
  owner: 'anonymous:1',
  body: clientMessageId,
  order: 1,
  state: 'waiting',
  revision: 1,
  ...change,
});
const shown = (messages: Message[], records: OutboxRecord[], hasOlder = false) =>
  itemsOf(messages, records, hasOlder).map(({ key, id, state, isRead }) => [key, id, state, isRead]);

it('shows what the service has in its order, then what is unsent', () => {
  expect(shown([message('1'), answer('2')], [record('x'), record('y', { state: 'failed' })])).toEqual([
    ['c1', '1', 'sent', true],
    ['2', '2', 'received', false],
    ['x', 'x', 'sending', false],
    ['y', 'y', 'failed', false],
  ]);
});

it('shows a message once, from writing to reading, under one key', () => {
  const waiting = record('c2');
  const sent = record('c2', { state: 'sent', message: message('2') });
  expect(shown([message('1')], [waiting])).toContainEqual(['c2', 'c2', 'sending', false]);
  expect(shown([message('1')], [sent])).toContainEqual(['c2', '2', 'sent', false]);
  // The stream may bring the message before the answer, or after it.
  for (const copy of [waiting, sent])
    expect(shown([message('1'), message('2')], [copy])).toEqual([
      ['c1', '1', 'sent', false],
      ['c2', '2', 'sent', false],
    ]);
});

it("puts what was just sent where the service has it, before another tab's later message", () => {
  const sent = record('c1', { state: 'sent', message: message('1') });
  expect(shown([answer('2')], [sent])).toEqual([
    ['c1', '1', 'sent', true],
    ['2', '2', 'received', false],
  ]);
});

it('shows nothing above a gap: what was sent before the oldest message here comes with its page', () => {
  const sent = record('c1', { state: 'sent', message: message('1') });
  expect(shown([answer('2')], [sent], true)).toEqual([['2', '2', 'received', false]]);
});

it("shows a message's files with the bytes that this browser has, under one key", () => {
  const files = [{ fileId: 'f1', name: 'a.png', type: 'image/png', size: 3, width: 4, height: 2 }];
  const attachment = {
    id: 'a1',
    kind: 'IMAGE' as const,
    contentType: 'image/png',
    name: 'a.png',
    size: 3,
    state: 'READY',
    width: null,
    height: null,
  };
  const waiting = record('c1', { body: '', files });
  const common = { key: 'f1', fileId: 'f1', kind: 'IMAGE', name: 'a.png', width: 4, height: 2 };
  expect(itemsOf([], [waiting], false)[0]).toMatchObject({
    body: '',
    files: [{ ...common, state: 'unsent' }],
  });
  const stored = message('1', { body: '[image]', isDescribed: true, attachments: [attachment] });
  const [item] = itemsOf([stored], [record('c1', { state: 'sent', message: stored, files })], false);
  expect(item).toMatchObject({ body: '', files: [{ ...common, attachmentId: 'a1', state: 'ready' }] });
  const elsewhere = itemsOf([stored], [], false)[0];
  expect(elsewhere).toMatchObject({ files: [{ key: 'a1', fileId: null, width: null, state: 'ready' }] });
  expect(itemsOf([message('1', { attachments: [attachment] })], [], false)[0]?.body).toBe('message 1');
});
