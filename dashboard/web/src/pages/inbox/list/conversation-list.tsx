import { ActionIcon, Group, NativeSelect, Title } from '@mantine/core';
import { IconAlertTriangle, IconClock, IconKeyboard } from '@tabler/icons-react';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useWorkspace } from '../../../api/workspace';
import { CHANNEL_LABELS } from '../../../common/channel-logo';
import { lazyPart, usePreload } from '../../../common/lazy-part';
import { useFormats, useTexts } from '../../../i18n/locale';
import { AlertMenu } from '../alerts/alert-menu';
import { MAX_COUNT } from '../inbox-cache';
import { CHANNELS, type InboxFilter, STATUSES, toSearch, useInboxFilter, VIEWS } from '../inbox-filter';
import { isMatter } from '../matters';
import classes from '../inbox.module.css';
import { ColleagueView } from './colleague-view';
import { useFocusOnReturn } from './next-conversation';
import { Rows } from './rows';
import { SearchField } from '../search/search-field';
import { useCounts } from '../use-inbox';

const SearchResults = lazyPart(() =>
  import('../search/search-results').then((module) => module.SearchResults),
);

/** Views that are shown while they have conversations, with their icons. */
const MATTERS = [
  ['waiting', IconClock],
  ['lost', IconAlertTriangle],
] as const;

/** Smallest number of conversations that may make the links to the three views too wide for the list. */
const WIDE_COUNT = 100;

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
  const section = useFocusOnReturn(openId);
  usePreload(SearchResults);
  return (
    <section ref={section} tabIndex={-1} className={classes.list} aria-label={inbox.conversations}>
      <Group justify="space-between" className={classes.listHead}>
        <Title order={1} size="h3">
          {inbox.title}
        </Title>
        <Group gap={4}>
          <AlertMenu />
          <ActionIcon
            variant="subtle"
            color="gray"
            visibleFrom="sm"
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
          {/* The key makes React render each filter's list anew, so that it begins at its top. */}
          <Rows key={JSON.stringify(filter)} filter={filter} openId={openId} section={section} />
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
      data-wide={(counts && VIEWS.some((view) => counts[view] >= WIDE_COUNT)) || undefined}
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
          {/* The server counts only open conversations. */}
          {counts && filter.status === 'OPEN' && (
            <span className={classes.count}>{format(counts[view])}</span>
          )}
        </Link>
      ))}
      <ColleagueView filter={filter} />
      {MATTERS.map(
        ([view, Icon]) =>
          counts &&
          (counts[view] > 0 || filter.view === view) && (
            <Link
              key={view}
              to="/w/$slug/inbox"
              params={{ slug }}
              search={toSearch({ ...filter, view, status: 'OPEN' })}
              className={`${classes.view} ${classes.matter}`}
              data-view={view}
              aria-current={filter.view === view ? 'true' : undefined}
            >
              <Icon size={16} stroke={1.6} aria-hidden />
              {inbox.view[view]}
              <span className={classes.count}>{format(counts[view])}</span>
            </Link>
          ),
      )}
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
      {!isMatter(filter.view) && (
        <NativeSelect
          size="xs"
          aria-label={inbox.statusFilter}
          value={filter.status}
          data={STATUSES.map((value) => ({ value, label: inbox.status[value] }))}
          onChange={({ currentTarget: { value } }) => set({ status: value as InboxFilter['status'] })}
        />
      )}
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
