import { QueryClient } from '@tanstack/react-query';
import type { ActiveConversation, InboxCounts, Message } from '../../../api/types';
import { keyOf } from '../inbox-cache';
import { showReply } from './show-reply';

const WORKSPACE = { id: 'w', agentId: 'me' };
const COUNTS: InboxCounts = { mine: 4, nobody: 7, all: 20, waiting: 3, lost: 0 };
const countsKey = ['workspaces', 'w', 'conversations/counts', {}];
const message = { id: 'm-2', body: 'Yes.', createdAt: '2026-11-21T09:41:07.000Z' } as Message;

/** Makes the cache of a page that shows a conversation in a list. */
function cacheOf(row: Partial<ActiveConversation>, counts = COUNTS): QueryClient {
  const queries = new QueryClient({ defaultOptions: { queries: { staleTime: Infinity } } });
  const page = { data: [{ id: 'c', status: 'OPEN', ...row }], nextCursor: null };
  queries.setQueryData(keyOf('w', 'list', { status: 'OPEN' }), { pages: [page], pageParams: [undefined] });
  queries.setQueryData(keyOf('w', 'conversation', 'c'), { id: 'c', status: 'OPEN' });
  queries.setQueryData(countsKey, counts);
  return queries;
}

describe('a sent reply', () => {
  it('ends the wait of the customer in the counts, too', () => {
    const queries = cacheOf({ waitingMessageId: 'm-1' });
    showReply(queries, WORKSPACE, 'c', { message });
    expect(queries.getQueryData(countsKey)).toEqual({ ...COUNTS, waiting: 2 });
    showReply(queries, WORKSPACE, 'c', { message });
    expect(queries.getQueryData(countsKey)).toEqual({ ...COUNTS, waiting: 2 });
  });

  it('counts a conversation that it has assigned', () => {
    const queries = cacheOf({ waitingMessageId: null });
    showReply(queries, WORKSPACE, 'c', { message, assignmentEventId: 'e' });
    expect(queries.getQueryData(countsKey)).toEqual({ ...COUNTS, mine: 5, nobody: 6 });
  });

  it('leaves a count above the largest number that is shown', () => {
    const queries = cacheOf({ waitingMessageId: 'm-1' }, { ...COUNTS, waiting: 1_001 });
    showReply(queries, WORKSPACE, 'c', { message });
    expect(queries.getQueryData<InboxCounts>(countsKey)!.waiting).toBe(1_001);
  });
});
