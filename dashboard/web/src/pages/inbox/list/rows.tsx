import { Button, EmptyState, Skeleton, Stack } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { memo, type RefObject, useMemo, useRef } from 'react';
import type { ActiveConversation } from '../../../api/types';
import { useWorkspace } from '../../../api/workspace';
import { ErrorNotice } from '../../../common/error-notice';
import { useNow } from '../../../common/use-now';
import { useFormats, useTexts } from '../../../i18n/locale';
import { PresenceSign } from '../conversation/presence';
import { useSnoozeText } from '../conversation/snooze-text';
import { type InboxFilter, toSearch } from '../inbox-filter';
import { isMatter } from '../matters';
import classes from '../inbox.module.css';
import { useAgentName } from '../names';
import { useNotSent } from '../reply/kept-replies';
import { useDrafts } from '../reply/use-draft';
import { useConversations } from '../use-inbox';
import { InboxRow } from './inbox-row';
import { LoadMore } from './load-more';
import { useShownList } from './next-conversation';
import { RowMark, type RowMarkOf } from './row-mark';
import { Preview } from './preview';
import { ROW, useRowFocus } from './row-focus';
import own from './rows.module.css';
import { useRowsInSight, useSteadyRows } from './rows-in-sight';
import { useKeptRow } from './use-kept-row';

const MINUTE_MS = 60_000;

/** Shows the conversations of a view. Renders only the rows near the visible part and the focused row. */
export function Rows({
  filter,
  openId,
  section,
}: {
  filter: InboxFilter;
  openId: string | undefined;
  /** Element that gets the focus if the focused row disappears and no row is left. */
  section: RefObject<HTMLElement | null>;
}) {
  const { inbox, common } = useTexts();
  const { items: listed, ...pages } = useConversations(filter);
  const items = useKeptRow(listed, filter, openId);
  const nameOf = useAgentName();
  const drafts = useDrafts();
  const notSent = useNotSent();
  const list = useRef<HTMLUListElement>(null);
  const ids = useMemo(() => items?.map(({ id }) => id) ?? [], [items]);
  const { focusedId, focusRow, handlers } = useRowFocus(list, section, ids, openId);
  const indexes = useRowsInSight(list, ids.length, focusedId === null ? -1 : ids.indexOf(focusedId));
  useSteadyRows(list, ids);
  useShownList({ element: list, ids, focusRow }, openId);
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
        <ul
          ref={list}
          className={own.list}
          data-status={filter.status}
          data-loaded={ids.length}
          style={{ height: `calc(var(--row) * ${ids.length})` }}
          {...handlers}
        >
          {indexes.map((index) => {
            const conversation = items[index]!;
            return (
              <li
                key={conversation.id}
                style={{ top: `calc(var(--row) * ${index})` }}
                aria-posinset={index + 1}
                aria-setsize={pages.hasNextPage ? -1 : ids.length}
              >
                <Row
                  conversation={conversation}
                  filter={filter}
                  isOpen={conversation.id === openId}
                  mark={
                    notSent.has(conversation.id)
                      ? 'notSent'
                      : (conversation.lost ?? (drafts.has(conversation.id) ? 'draft' : null))
                  }
                  assignee={
                    conversation.assignedAgentId && ['all', 'nobody', 'waiting', 'lost'].includes(filter.view)
                      ? nameOf(conversation.assignedAgentId)
                      : filter.view === 'all' || filter.view === 'waiting'
                        ? inbox.nobody
                        : null
                  }
                />
              </li>
            );
          })}
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
    <EmptyState
      py="xl"
      title={inbox.none[filter.view]}
      description={inbox.noneAdvice[isMatter(filter.view) ? filter.view : filter.status]}
    >
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

const Row = memo(function Row({
  conversation,
  filter,
  isOpen,
  mark,
  assignee,
}: {
  conversation: ActiveConversation;
  filter: InboxFilter;
  isOpen: boolean;
  mark: RowMarkOf | null;
  /** Name to show as the assigned agent; null to show none. */
  assignee: string | null;
}) {
  const { inbox } = useTexts();
  const formats = useFormats();
  const { id, sourceChannel, contact, lastMessagePreview, lastSenderAgentId, isUnread } = conversation;
  const { lastMessageAt, waitingSince, createdAt } = conversation;
  const at = lastMessageAt ?? createdAt;
  const now = useNow(MINUTE_MS, Date.parse(waitingSince ?? at));
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
        waitingSince ? (
          <time dateTime={waitingSince} title={formats.moment(waitingSince)} className={own.waits}>
            {inbox.waits(formats.lasted(waitingSince, now))}
          </time>
        ) : (
          <time dateTime={at} title={formats.moment(at)}>
            {formats.past(at, now)}
          </time>
        )
      }
    >
      <span className={classes.rowLine}>
        {mark && <RowMark of={mark} />}
        <Preview text={lastMessagePreview} senderAgentId={lastSenderAgentId} />
        <PresenceSign conversationId={id} />
        {assignee !== null && <bdi className={classes.assignee}>{assignee}</bdi>}
        {isUnread && <span className={classes.unread} role="img" aria-label={inbox.unread} />}
      </span>
      {snooze !== null && <span className={classes.snooze}>{snooze}</span>}
    </InboxRow>
  );
});
