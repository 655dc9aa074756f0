import { ActionIcon, Button, EmptyState, Group, NativeSelect, Skeleton, Stack, Title } from '@mantine/core';
import { IconKeyboard } from '@tabler/icons-react';
import { Link, useNavigate } from '@tanstack/react-router';
import { memo, useState } from 'react';
import type { ActiveConversation } from '../../../api/types';
import { useWorkspace } from '../../../api/workspace';
import { CHANNEL_LABELS } from '../../../common/channel-logo';
import { ErrorNotice } from '../../../common/error-notice';
import { lazyPart, usePreload } from '../../../common/lazy-part';
import { useNow } from '../../../common/use-now';
import { useFormats, useTexts } from '../../../i18n/locale';
import { AlertMenu } from '../alerts/alert-menu';
import { CHANNELS, type InboxFilter, STATUSES, toSearch, useInboxFilter, VIEWS } from '../inbox-filter';
import classes from '../inbox.module.css';
import { ColleagueView } from './colleague-view';
import { DraftMark } from './draft-mark';
import { InboxRow } from './inbox-row';
import { useKeptRow } from './kept-row';
import { LoadMore } from './load-more';
import { Preview } from './preview';
import { useAgentName } from '../names';
import { PresenceSign } from '../conversation/presence';
import { useDrafts } from '../reply/use-draft';
import { useFocusOnReturn, useRememberedPlace } from './next-conversation';
import { SearchField } from '../search/search-field';
import { useSnoozeText } from '../conversation/snooze-text';
import { useConversations, useCounts } from '../use-inbox';
import { ROW } from '../use-keys';

const SearchResults = lazyPart(() =>
  import('../search/search-results').then((module) => module.SearchResults),
);

const MINUTE_MS = 60_000;
/** Highest number that the server counts to. */
const MAX_COUNT = 1_000;
/** Number from which on the three counts may need more room than the list has. */
const WIDE_COUNT = 100;

/** The views of the inbox, and the conversations of the chosen one. */
export function ConversationList({
  openId,
  onShowKeys,
}: {
  openId: string | undefined;
  onShowKeys: () => void;
}) {
  const { inbox } = useTexts();
  const filter = useInboxFilter();
  const [search, setSearch] = useState('');
  const list = useFocusOnReturn(openId);
  usePreload(SearchResults);
  return (
    <section ref={list} tabIndex={-1} className={classes.list} aria-label={inbox.conversations}>
      <Group justify="space-between" className={classes.listHead}>
        <Title order={1} size="h3">
          {inbox.title}
        </Title>
        <Group gap={4}>
          <AlertMenu />
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={inbox.keys}
            title={inbox.keys}
            onClick={onShowKeys}
          >
            <IconKeyboard size={18} stroke={1.6} aria-hidden />
          </ActionIcon>
        </Group>
      </Group>
      <SearchField text={search} onChange={setSearch} />
      {search.trim() === '' ? (
        <>
          <Views filter={filter} />
          <Filters filter={filter} />
          <Rows filter={filter} openId={openId} />
        </>
      ) : (
        <SearchResults text={search} openId={openId} />
      )}
    </section>
  );
}

function Views({ filter }: { filter: InboxFilter }) {
  const { inbox } = useTexts();
  const formats = useFormats();
  const { slug } = useWorkspace();
  const counts = useCounts().data;
  const format = (count: number) =>
    count > MAX_COUNT ? inbox.moreThan(formats.number(MAX_COUNT)) : formats.number(count);
  return (
    <nav
      className={classes.views}
      aria-label={inbox.views}
      data-wide={(counts && Object.values(counts).some((count) => count >= WIDE_COUNT)) || undefined}
    >
      {VIEWS.map((view) => (
        <Link
          key={view}
          to="/w/$slug/inbox"
          params={{ slug }}
          search={toSearch({ ...filter, view })}
          className={classes.view}
          aria-current={view === filter.view ? 'true' : undefined}
        >
          {inbox.view[view]}
          {/* Only open conversations are counted. */}
          {counts && filter.status === 'OPEN' && (
            <span className={classes.count}>{format(counts[view])}</span>
          )}
        </Link>
      ))}
      <ColleagueView filter={filter} />
    </nav>
  );
}

function Filters({ filter }: { filter: InboxFilter }) {
  const { inbox } = useTexts();
  const { slug } = useWorkspace();
  const navigate = useNavigate();
  const set = (change: Partial<InboxFilter>) =>
    void navigate({ to: '/w/$slug/inbox', params: { slug }, search: toSearch({ ...filter, ...change }) });
  return (
    <Group gap="xs" wrap="nowrap" className={classes.filters}>
      <NativeSelect
        size="xs"
        aria-label={inbox.statusFilter}
        value={filter.status}
        data={STATUSES.map((value) => ({ value, label: inbox.status[value] }))}
        onChange={({ currentTarget: { value } }) => set({ status: value as InboxFilter['status'] })}
      />
      <NativeSelect
        size="xs"
        aria-label={inbox.channelFilter}
        value={filter.channel ?? ''}
        data={[
          { value: '', label: inbox.allChannels },
          ...CHANNELS.map((value) => ({ value, label: CHANNEL_LABELS[value] })),
        ]}
        onChange={({ currentTarget: { value } }) =>
          set({ channel: (value || undefined) as InboxFilter['channel'] })
        }
      />
    </Group>
  );
}

function Rows({ filter, openId }: { filter: InboxFilter; openId: string | undefined }) {
  const { inbox, common } = useTexts();
  const { items: listed, ...pages } = useConversations(filter);
  const items = useKeptRow(listed, filter, openId);
  const nameOf = useAgentName();
  const drafts = useDrafts();
  useRememberedPlace(listed, openId);
  if (!items && pages.error) {
    return (
      <div className={classes.rows}>
        <ErrorNotice error={pages.error} onRetry={() => void pages.refetch()} />
      </div>
    );
  }
  if (!items) {
    return (
      <Stack p="sm" role="status" aria-busy="true" aria-label={common.loading}>
        {[1, 2, 3, 4, 5].map((row) => (
          <Skeleton key={row} height={44} />
        ))}
      </Stack>
    );
  }
  return (
    <div className={classes.rows}>
      {items.length === 0 && !pages.hasNextPage && <NoRows filter={filter} />}
      {items.length > 0 && (
        <ul>
          {items.map((conversation) => (
            <li key={conversation.id}>
              <Row
                conversation={conversation}
                filter={filter}
                isOpen={conversation.id === openId}
                hasDraft={drafts.has(conversation.id)}
                assignee={
                  conversation.assignedAgentId && (filter.view === 'all' || filter.view === 'nobody')
                    ? nameOf(conversation.assignedAgentId)
                    : filter.view === 'all'
                      ? inbox.nobody
                      : null
                }
              />
            </li>
          ))}
        </ul>
      )}
      <LoadMore pages={pages} label={inbox.olderConversations} />
    </div>
  );
}

function NoRows({ filter }: { filter: InboxFilter }) {
  const { inbox } = useTexts();
  const { slug } = useWorkspace();
  return (
    <EmptyState py="xl" title={inbox.none[filter.view]} description={inbox.noneAdvice}>
      {filter.view === 'mine' && (
        <EmptyState.Actions>
          <Button
            size="xs"
            variant="default"
            renderRoot={(props) => (
              <Link
                {...props}
                to="/w/$slug/inbox"
                params={{ slug }}
                search={toSearch({ ...filter, view: 'nobody' })}
              />
            )}
          >
            {inbox.toNobody}
          </Button>
        </EmptyState.Actions>
      )}
    </EmptyState>
  );
}

/** Row of the list. It is made again only when what it shows has changed. */
const Row = memo(function Row({
  conversation,
  filter,
  isOpen,
  hasDraft,
  assignee,
}: {
  conversation: ActiveConversation;
  filter: InboxFilter;
  isOpen: boolean;
  hasDraft: boolean;
  /** Name to show; null where the view says it. */
  assignee: string | null;
}) {
  const { inbox } = useTexts();
  const formats = useFormats();
  const now = useNow(MINUTE_MS);
  const { id, sourceChannel, contact, lastMessagePreview, lastSenderAgentId, isUnread } = conversation;
  const { lastMessageAt, createdAt } = conversation;
  const at = lastMessageAt ?? createdAt;
  const snooze = useSnoozeText()(conversation);
  return (
    <InboxRow
      conversationId={id}
      channel={sourceChannel}
      contact={contact}
      search={toSearch(filter)}
      isOpen={isOpen}
      attributes={{ [ROW]: id, 'data-unread': isUnread || undefined }}
      beside={
        <time dateTime={at} title={formats.moment(at)}>
          {formats.past(at, now)}
        </time>
      }
    >
      <span className={classes.rowLine}>
        {hasDraft && <DraftMark />}
        <Preview text={lastMessagePreview} senderAgentId={lastSenderAgentId} />
        <PresenceSign conversationId={id} />
        {assignee !== null && <bdi className={classes.assignee}>{assignee}</bdi>}
        {isUnread && <span className={classes.unread} role="img" aria-label={inbox.unread} />}
      </span>
      {snooze !== null && <span className={classes.snooze}>{snooze}</span>}
    </InboxRow>
  );
});
