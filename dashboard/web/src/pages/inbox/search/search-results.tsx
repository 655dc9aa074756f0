import { Button, Center, EmptyState, Skeleton, Stack, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { api, toQuery } from '../../../api/client';
import type { FoundConversation, FoundMessage, FoundMessages } from '../../../api/types';
import { useWorkspace } from '../../../api/workspace';
import { ErrorNotice } from '../../../common/error-notice';
import { keyOf } from '../../../common/keys';
import { useNow } from '../../../common/use-now';
import { useFormats, useTexts } from '../../../i18n/locale';
import { useFoundId } from '../conversation/found-message';
import { toSearch, useInboxFilter } from '../inbox-filter';
import classes from '../inbox.module.css';
import { InboxRow } from '../list/inbox-row';
import { LoadMore } from '../list/load-more';
import { Preview } from '../list/preview';
import { useAgentName } from '../names';
import { CustomerExcerpt } from '../placeholders';
import { moveToResult, RESULT } from './search-field';
import own from './search-results.module.css';

const TYPING_MS = 250;
const PAGE = 30;
const MINUTE_MS = 60_000;

/** Lists conversations whose customer's name matches the search, and messages that contain its words. */
export function SearchResults({ text: typed, openId }: { text: string; openId: string | undefined }) {
  const { search } = useTexts().inbox;
  const { common } = useTexts();
  const [text] = useDebouncedValue(typed.trim(), TYPING_MS);
  const foundId = useFoundId();
  const messages = useFoundMessages(text);
  const conversations = useFoundConversations(text);
  const found = messages.data?.pages.flatMap(({ data }) => data);
  const last = messages.data?.pages.at(-1);
  const isNothing = found?.length === 0 && conversations.data?.length === 0 && !messages.hasNextPage;

  return (
    <div
      className={classes.rows}
      role="region"
      aria-label={search.results}
      onKeyDown={(event) => {
        const step = { ArrowDown: 1, ArrowUp: -1 }[keyOf(event)];
        if (!step) return;
        event.preventDefault();
        moveToResult(step, document.querySelector('input[type=search]'));
      }}
    >
      <div role="status">
        {last && !last.isIndexComplete && (
          <Text size="xs" c="dimmed" p="xs">
            {search.isFilling}
          </Text>
        )}
        {isNothing && <EmptyState p="lg" title={search.nothing} description={search.nothingAdvice} />}
      </div>
      {conversations.data && conversations.data.length > 0 && (
        <Part title={search.customers}>
          {conversations.data.map((one) => (
            <ConversationResult key={one.id} found={one} isOpen={one.id === openId} />
          ))}
        </Part>
      )}
      {found && found.length > 0 && (
        <Part title={search.messages}>
          {found.map((one) => (
            <MessageResult
              key={one.id}
              found={one}
              isOpen={one.conversationId === openId && one.id === foundId}
            />
          ))}
        </Part>
      )}
      {!found && !messages.error && (
        <Stack p="sm" role="status" aria-busy="true" aria-label={common.loading}>
          {[1, 2, 3].map((row) => (
            <Skeleton key={row} height={56} />
          ))}
        </Stack>
      )}
      <ErrorNotice error={messages.error} onRetry={() => void messages.refetch()} />
      {last?.searchedUntil ? <SearchFurther until={last.searchedUntil} messages={messages} /> : null}
      {!last?.searchedUntil && <LoadMore pages={messages} label={search.more} />}
    </div>
  );
}

function useFoundMessages(text: string) {
  const { id } = useWorkspace();
  return useInfiniteQuery({
    queryKey: ['workspaces', id, 'search', text],
    queryFn: ({ pageParam, signal }) =>
      api.get<FoundMessages>(
        `/workspaces/${id}/inbox/search${toQuery({ text, limit: PAGE, cursor: pageParam })}`,
        signal,
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
    placeholderData: keepPreviousData,
    enabled: text !== '',
  });
}

function useFoundConversations(text: string) {
  const { id } = useWorkspace();
  return useQuery({
    queryKey: ['workspaces', id, 'search contacts', text],
    queryFn: ({ signal }) =>
      api.get<{ data: FoundConversation[] }>(
        `/workspaces/${id}/inbox/search/contacts${toQuery({ text })}`,
        signal,
      ),
    select: ({ data }) => data,
    placeholderData: keepPreviousData,
    enabled: text !== '',
  });
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section aria-label={title}>
      <h2 className={own.title}>{title}</h2>
      <ul>{children}</ul>
    </section>
  );
}

function ConversationResult({ found, isOpen }: { found: FoundConversation; isOpen: boolean }) {
  const { inbox } = useTexts();
  const filter = useInboxFilter();
  const { id, sourceChannel, contact, lastMessagePreview, lastSenderAgentId, status } = found;
  return (
    <li>
      <InboxRow
        conversationId={id}
        channel={sourceChannel}
        contact={contact}
        search={toSearch(filter)}
        isOpen={isOpen}
        attributes={{ [RESULT]: id }}
        beside={<span className={classes.assignee}>{inbox.status[status]}</span>}
      >
        <span className={classes.rowLine}>
          <Preview text={lastMessagePreview} senderAgentId={lastSenderAgentId} />
        </span>
      </InboxRow>
    </li>
  );
}

function MessageResult({ found, isOpen }: { found: FoundMessage; isOpen: boolean }) {
  const { inbox } = useTexts();
  const formats = useFormats();
  const now = useNow(MINUTE_MS);
  const nameOf = useAgentName();
  const filter = useInboxFilter();
  const { id, conversationId, sourceChannel, contact, senderAgentId, createdAt, excerpt } = found;
  return (
    <li>
      <InboxRow
        conversationId={conversationId}
        channel={sourceChannel}
        contact={contact}
        search={{ ...toSearch(filter), message: id }}
        isOpen={isOpen}
        attributes={{ [RESULT]: id }}
        beside={
          <time dateTime={createdAt} title={formats.moment(createdAt)}>
            {formats.past(createdAt, now)}
          </time>
        }
      >
        <span className={own.excerpt}>
          {senderAgentId && (
            <>
              <bdi className={own.sender}>{nameOf(senderAgentId)}</bdi>
              {inbox.saidBy}
            </>
          )}
          <bdi>
            {senderAgentId ? showParts(excerpt) : <CustomerExcerpt excerpt={excerpt} show={showParts} />}
          </bdi>
        </span>
      </InboxRow>
    </li>
  );
}

function showParts(excerpt: FoundMessage['excerpt']) {
  return excerpt.map((part, index) =>
    part.isHit ? <mark key={index}>{part.text}</mark> : <span key={index}>{part.text}</span>,
  );
}

function SearchFurther({
  until,
  messages,
}: {
  until: string;
  messages: ReturnType<typeof useFoundMessages>;
}) {
  const { search } = useTexts().inbox;
  const formats = useFormats();
  return (
    <Center className={classes.more}>
      <Stack gap={4} align="center">
        <Text size="xs" c="dimmed">
          {search.searchedUntil(formats.minute(until))}
        </Text>
        <Button
          size="xs"
          variant="default"
          loading={messages.isFetchingNextPage}
          onClick={() => void messages.fetchNextPage()}
        >
          {search.further}
        </Button>
      </Stack>
    </Center>
  );
}
