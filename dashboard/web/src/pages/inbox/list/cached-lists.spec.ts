import { QueryClient } from '@tanstack/react-query';
import type { ActiveConversation } from '../../../api/types';
import { keyOf } from '../inbox-cache';
import {
  isKnownRead,
  isShownAs,
  type List,
  type ListQuery,
  NOBODY,
  rowsOf,
  rowsOfContacts,
  showChange,
  toParameters,
  withChange,
} from './cached-lists';

const row = (id: string, more: Partial<ActiveConversation> = {}) =>
  ({
    id,
    status: 'OPEN',
    assignedAgentId: null,
    lost: null,
    waitingMessageId: null,
    isUnread: true,
    lastMessageId: `${id}-5`,
    contact: { id: `contact of ${id}` },
    ...more,
  }) as ActiveConversation;

const WAITS = { waitingMessageId: 'm1' };

describe('a change in a list', () => {
  const idsAfter = (
    query: ListQuery,
    change: Partial<ActiveConversation>,
    was: Partial<ActiveConversation> = {},
  ) =>
    withChange(
      { data: [row('a', was), row('b', was)], nextCursor: null },
      { conversationId: 'a', change },
      query,
    )
      .data.map(({ id }) => id)
      .join();

  it.each<[string, ListQuery, Partial<ActiveConversation>, Partial<ActiveConversation>, string]>([
    ['is read', { status: 'OPEN' }, { isUnread: false }, {}, 'a,b'],
    ['is closed, among the open ones', { status: 'OPEN' }, { status: 'CLOSED' }, {}, 'b'],
    ['is closed, among those of any status', {}, { status: 'CLOSED' }, {}, 'a,b'],
    ["is read, among nobody's", { assignedAgentId: NOBODY }, { isUnread: false }, {}, 'a,b'],
    ["is taken, among nobody's", { assignedAgentId: NOBODY }, { assignedAgentId: 'me' }, {}, 'b'],
    ['is taken, among all', { status: 'OPEN' }, { assignedAgentId: 'me' }, {}, 'a,b'],
    [
      'is given back, among my own',
      { assignedAgentId: 'me' },
      { assignedAgentId: null },
      { assignedAgentId: 'me' },
      'b',
    ],
    ['stays mine', { assignedAgentId: 'me' }, { isUnread: false }, { assignedAgentId: 'me' }, 'a,b'],
    ['is closed, among the lost ones', { view: 'lost' }, { status: 'CLOSED' }, { lost: 'FAILED' }, 'b'],
    ['is snoozed, among the lost ones', { view: 'lost' }, { status: 'SNOOZED' }, { lost: 'FAILED' }, 'a,b'],
    ['is answered, among those that wait', { view: 'waiting' }, { waitingMessageId: null }, WAITS, 'b'],
    ['is snoozed, among those that wait', { view: 'waiting' }, { status: 'SNOOZED' }, WAITS, 'b'],
    ['is taken, among those that wait', { view: 'waiting' }, { assignedAgentId: 'me' }, WAITS, 'a,b'],
    ['is lost no more', { view: 'lost' }, { lost: null }, { lost: 'FAILED' }, 'b'],
  ])('of a conversation that %s', (_, query, change, was, ids) => {
    expect(idsAfter(query, change, was)).toBe(ids);
  });

  it('changes that row alone, and a copy of it', () => {
    const page = { data: [row('a'), row('b')], nextCursor: 'b-5' };
    const changed = withChange(page, { conversationId: 'b', change: { isUnread: false } }, {});
    expect(changed).toEqual({ data: [row('a'), row('b', { isUnread: false })], nextCursor: 'b-5' });
    expect(page.data[1]!.isUnread).toBe(true);
  });

  it('is asked of the server by the only id that a list may have', () => {
    expect(toParameters({ status: 'OPEN', onlyId: 'a' })).toEqual({ status: 'OPEN', ids: 'a' });
    expect(toParameters({ status: 'OPEN', onlyId: null })).toEqual({ status: 'OPEN', ids: undefined });
  });
});

describe('the lists of a page', () => {
  const queries = new QueryClient();
  afterEach(() => queries.clear());

  /** Keeps a list with these rows on a page each, read at the time 1000. */
  const keep = (query: ListQuery, ...rows: ActiveConversation[]) => {
    const pages = rows.map((one) => ({ data: [one], nextCursor: null }));
    const list: List = { pages, pageParams: rows.map(() => undefined) };
    queries.setQueryData(keyOf('w', 'list', query), list, { updatedAt: 1000 });
  };
  const stateOf = (query: ListQuery) => queries.getQueryState<List>(keyOf('w', 'list', query))!;
  const idsIn = (query: ListQuery) =>
    stateOf(query).data!.pages.flatMap(({ data }) => data.map(({ id }) => id));

  it('show a change wherever the conversation is, each by its own filter', () => {
    keep({ status: 'OPEN' }, row('a'), row('b'));
    keep({ assignedAgentId: NOBODY }, row('b'), row('a'));
    showChange(queries, 'w', 'a', { assignedAgentId: 'me' });
    expect(idsIn({ status: 'OPEN' })).toEqual(['a', 'b']);
    expect(idsIn({ assignedAgentId: NOBODY })).toEqual(['b']);
    expect(rowsOf(queries, 'w', 'a').map(({ assignedAgentId }) => assignedAgentId)).toEqual(['me']);
  });

  it('count as no newer after a change, and are read again if they were to be', async () => {
    const [fresh, stale] = [{ status: 'OPEN' }, { view: 'lost' }] as const;
    keep(fresh, row('a'));
    keep(stale, row('a', { lost: 'FAILED' }));
    await queries.invalidateQueries({ queryKey: keyOf('w', 'list', stale) });
    showChange(queries, 'w', 'a', { isUnread: false });
    expect([stateOf(fresh), stateOf(stale)]).toMatchObject([
      { dataUpdatedAt: 1000, isInvalidated: false },
      { dataUpdatedAt: 1000, isInvalidated: true },
    ]);
  });

  it('of another workspace, or without the conversation, stay the same', () => {
    keep({ status: 'OPEN' }, row('a'));
    const { data } = stateOf({ status: 'OPEN' });
    showChange(queries, 'x', 'a', { isUnread: false });
    showChange(queries, 'w', 'b', { isUnread: false });
    expect(stateOf({ status: 'OPEN' }).data).toBe(data);
  });

  it('say whether a message is read', () => {
    keep({ status: 'OPEN' }, row('a', { isUnread: false }), row('b'));
    const isRead = (id: string, messageId: string) => isKnownRead(queries, 'w', id, messageId);
    expect([isRead('a', 'a-4'), isRead('a', 'a-5'), isRead('a', 'a-6')]).toEqual([true, true, false]);
    expect([isRead('b', 'b-5'), isRead('c', 'c-5')]).toEqual([false, false]);
    keep({ view: 'lost' }, row('d', { isUnread: false, lastMessageId: null }));
    expect(isRead('d', 'd-5')).toBe(false);
  });

  it('show a mark when all that have the conversation show it', () => {
    keep({ status: 'OPEN' }, row('a'), row('b'));
    expect([isShownAs(queries, 'w', 'a', true), isShownAs(queries, 'w', 'a', false)]).toEqual([true, false]);
    keep({}, row('a', { isUnread: false }));
    expect([isShownAs(queries, 'w', 'a', true), isShownAs(queries, 'w', 'a', false)]).toEqual([false, false]);
    // A conversation that no list has is shown neither as unread nor as read.
    expect([isShownAs(queries, 'w', 'c', true), isShownAs(queries, 'w', 'c', false)]).toEqual([false, false]);
  });

  it('find the conversations of contacts', () => {
    keep({ status: 'OPEN' }, row('a'), row('b'), row('c', { contact: row('a').contact }));
    expect(rowsOfContacts(queries, 'w', ['contact of a', 'contact of x'])).toEqual(['a', 'c']);
  });
});
