import { QueryClient } from '@tanstack/react-query';
import type { Message } from '../../api/types';
import {
  addNewest,
  keyOf,
  messagesKey,
  type Pages,
  refreshContacts,
  refreshOpen,
  refreshPresence,
  removeItem,
  withNewest,
} from './inbox-cache';

const message = (id: string, body = '') => ({ id, body }) as Message;

/** Makes pages of messages, such as `54 32`. */
const pagesOf = (ids: string): Pages<Message> => {
  const pages = ids
    .split(' ')
    .map((page) => ({ data: [...page].map((id) => message(id)), nextCursor: null }));
  return { pages, pageParams: pages.map(() => undefined) };
};
const idsIn = (pages: Pages<{ id: string }> | null | undefined) =>
  pages?.pages.map(({ data }) => data.map(({ id }) => id).join('')).join(' ');

describe('loaded messages', () => {
  const newest = (...ids: string[]) => ids.map((id) => message(id, 'new'));

  it('get the newest ones before them', () => {
    expect(idsIn(withNewest(pagesOf('54 32'), newest('7', '6', '5')))).toBe('7654 32');
  });

  it('are not joined by messages that leave a gap', () => {
    expect(withNewest(pagesOf('54 32'), newest('9', '8'))).toBeNull();
    expect(withNewest(pagesOf('54 32'), [])).toBeNull();
  });

  it('take over what has changed in them, on each page', () => {
    const joined = withNewest(pagesOf('54 32'), newest('5', '4', '3'));
    const bodies = joined?.pages.flatMap(({ data }) => data.map(({ id, body }) => `${id}${body}`));
    expect(bodies).toEqual(['5new', '4new', '3new', '2']);
  });

  it('stand in the order of their ids when an own one was shown early', () => {
    expect(idsIn(withNewest(pagesOf('74 32'), newest('7', '6', '5', '4')))).toBe('7654 32');
  });
});

describe('what the page has read', () => {
  const queries = new QueryClient();
  const key = messagesKey('w', 'c');
  afterEach(() => queries.clear());

  const shown = () => idsIn(queries.getQueryData<Pages<Message>>(key));
  const isStale = (queryKey: unknown[]) => queries.getQueryState(queryKey)?.isInvalidated;

  it('shows at its beginning what the person has written, once', () => {
    queries.setQueryData(key, pagesOf('54 32'));
    for (const id of ['6', '6']) addNewest(queries, 'w', ['messages', 'c'], message(id));
    expect(shown()).toBe('654 32');
  });

  it('stays unread where the person writes before it is read', () => {
    addNewest(queries, 'w', ['messages', 'c'], message('6'));
    expect(shown()).toBeUndefined();
    expect(() => removeItem(queries, 'w', ['messages', 'c'], '6')).not.toThrow();
  });

  it('loses what is deleted, on whichever page it is', () => {
    queries.setQueryData(key, pagesOf('54 32'));
    removeItem(queries, 'w', ['messages', 'c'], '3');
    expect(shown()).toBe('54 2');
  });

  it('is read again of conversations that have changed, and of no others', async () => {
    const parts = ['conversation', 'messages', 'notes', 'changes'].map((part) => keyOf('w', part, 'c'));
    const others = [keyOf('w', 'messages', 'd'), keyOf('x', 'messages', 'c'), keyOf('w', 'list', 'c')];
    for (const queryKey of [...parts, ...others]) queries.setQueryData(queryKey, pagesOf('1'));
    await refreshOpen(queries, 'w', ['c', 'e']);
    expect(parts.map(isStale)).toEqual([true, true, true, false]);
    expect(others.map(isStale)).toEqual([false, false, false]);
  });

  it('is read again of contacts that have changed, in their conversations and on their pages', async () => {
    for (const id of ['a', 'b']) {
      queries.setQueryData(keyOf('w', 'conversation', `of ${id}`), { contact: { id } });
      queries.setQueryData(['workspaces', 'w', `contacts/${id}`], { id });
    }
    await refreshContacts(queries, 'w', ['a']);
    const stale = ['a', 'b'].map((id) => [
      isStale(keyOf('w', 'conversation', `of ${id}`)),
      isStale(['workspaces', 'w', `contacts/${id}`]),
    ]);
    expect(stale).toEqual([
      [true, true],
      [false, false],
    ]);
  });

  it.each([
    [['c2', 'c9'], true],
    [['c9'], false],
    [[], false],
    [null, true],
  ])('is read again of who is in c1 and c2 when somebody is in %j: %p', async (ids, isAgain) => {
    const queryKey = keyOf('w', 'presence', 'c1,c2');
    queries.setQueryData(queryKey, { data: [] });
    await refreshPresence(queries, 'w', ids);
    expect(isStale(queryKey)).toBe(isAgain);
  });
});
