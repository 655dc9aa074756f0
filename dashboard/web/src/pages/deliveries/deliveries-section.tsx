import { Anchor, Button, Checkbox, EmptyState, Stack, Text, Title } from '@mantine/core';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { DeliverySummary } from '../../api/types';
import { useMayManage, useWorkspace } from '../../api/workspace';
import { type Column, DataTable } from '../../common/data-table';
import { lazyPart } from '../../common/lazy-part';
import { Moment } from '../../common/moment';
import { Pager } from '../../common/pager';
import { shortId } from '../../common/short-id';
import { useFormats, useTexts } from '../../i18n/locale';
import { type FilterTexts, filterOf } from './delivery-filter';
import { DeliveryFilters } from './delivery-filters';
import { DeliveryStatus } from './delivery-status';
import { RedeliverSelected } from './redeliver-selected';
import { useDeliveries } from './use-deliveries';

const RedeliverAllDialog = lazyPart(() =>
  import('./redeliver-all-dialog').then((module) => module.RedeliverAllDialog),
);

const route = getRouteApi('/inside/w/$slug/settings/webhooks/$endpointId');

export function DeliveriesSection({ endpointId, isActive }: { endpointId: string; isActive: boolean }) {
  const texts = useTexts();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const mayRedeliver = useMayManage() && isActive;
  const filter = filterOf(search);
  const isFiltered = Object.keys(filter).length > 0;
  const deliveries = useDeliveries(endpointId, filter, search.cursor);
  const [selected, setSelected] = useState<string[]>([]);
  const [isRedeliveringAll, setRedeliveringAll] = useState(false);

  const setFilter = (changed: FilterTexts) => {
    setSelected([]);
    void navigate({ search: ({ period }) => ({ period, ...changed }), resetScroll: false });
  };
  const columns = useColumns({
    endpointId,
    mayRedeliver,
    selected,
    setSelected,
    onConversation: (conversationId) => setFilter({ conversationId }),
  });
  return (
    <Stack component="section" gap="xs" aria-label={texts.deliveries.title}>
      <Title order={2} size="h4">
        {texts.deliveries.title}
      </Title>
      <DeliveryFilters
        filter={filter}
        onChange={setFilter}
        actions={
          mayRedeliver && (
            <>
              <SelectPage
                deliveries={deliveries.data?.data ?? []}
                selected={selected}
                onSelect={setSelected}
              />
              <RedeliverSelected ids={selected} onDone={() => setSelected([])} />
              {isFiltered && filter.status !== 'pending' && (
                <Button size="xs" variant="default" onClick={() => setRedeliveringAll(true)}>
                  {texts.redeliver.allMatching}
                </Button>
              )}
            </>
          )
        }
      />
      <DataTable
        name={texts.deliveries.title}
        query={deliveries}
        columns={columns}
        rowKey={({ id }) => id}
        empty={
          <EmptyState
            title={isFiltered ? texts.deliveries.noneMatch : texts.deliveries.none}
            description={isFiltered ? texts.deliveries.noneMatchAdvice : texts.deliveries.noneAdvice}
          />
        }
      />
      <Pager
        cursor={search.cursor}
        nextCursor={deliveries.data?.nextCursor}
        onMove={(cursor) => {
          setSelected([]);
          void navigate({ search: (now) => ({ ...now, cursor }) });
        }}
      />
      {isRedeliveringAll && (
        <RedeliverAllDialog
          endpointId={endpointId}
          filter={filter}
          onClose={() => setRedeliveringAll(false)}
        />
      )}
    </Stack>
  );
}

/** Shows a checkbox that selects all deliveries of the page that can be sent again, or none. */
function SelectPage({
  deliveries,
  selected,
  onSelect,
}: {
  deliveries: DeliverySummary[];
  selected: string[];
  onSelect: (ids: string[]) => void;
}) {
  const texts = useTexts();
  const ids = deliveries.filter(({ status }) => status !== 'pending').map(({ id }) => id);
  const areAll = ids.length > 0 && ids.every((id) => selected.includes(id));
  return (
    <Checkbox
      size="xs"
      label={texts.redeliver.selectPage}
      disabled={ids.length === 0}
      checked={areAll}
      indeterminate={!areAll && selected.length > 0}
      onChange={() => onSelect(areAll ? [] : ids)}
    />
  );
}

function useColumns({
  endpointId,
  mayRedeliver,
  selected,
  setSelected,
  onConversation,
}: {
  endpointId: string;
  mayRedeliver: boolean;
  selected: string[];
  setSelected: (ids: string[]) => void;
  onConversation: (id: string) => void;
}): Column<DeliverySummary>[] {
  const texts = useTexts();
  const formats = useFormats();
  const { slug } = useWorkspace();
  const select: Column<DeliverySummary> = {
    header: texts.redeliver.select,
    isActions: true,
    cell: ({ id, event, status }) => (
      <Checkbox
        size="xs"
        aria-label={texts.redeliver.selectOne(event, id)}
        disabled={status === 'pending'}
        checked={selected.includes(id)}
        onChange={({ currentTarget: { checked } }) =>
          setSelected(checked ? [...selected, id] : selected.filter((one) => one !== id))
        }
      />
    ),
  };
  const columns: Column<DeliverySummary>[] = [
    { header: texts.deliveries.time, cell: ({ createdAt }) => <Moment at={createdAt} isExact /> },
    {
      header: texts.deliveries.event,
      cell: ({ id, event, subject: { contactName, text } }) => (
        <Stack gap={0}>
          <Anchor
            inherit
            renderRoot={(props) => (
              <Link
                {...props}
                to="/w/$slug/settings/webhooks/$endpointId/deliveries/$deliveryId"
                params={{ slug, endpointId, deliveryId: id }}
              />
            )}
          >
            {event}
          </Anchor>
          {(contactName || text) && (
            <Text size="xs" c="dimmed" lineClamp={1}>
              {[contactName, text].filter(Boolean).join(': ')}
            </Text>
          )}
        </Stack>
      ),
    },
    {
      header: texts.deliveries.conversation,
      cell: ({ subject: { conversationId } }) =>
        conversationId && (
          <Anchor
            component="button"
            type="button"
            size="xs"
            ff="monospace"
            title={conversationId}
            aria-label={texts.deliveries.onlyConversation(shortId(conversationId))}
            onClick={() => onConversation(conversationId)}
          >
            {shortId(conversationId)}
          </Anchor>
        ),
    },
    {
      header: texts.filters.status,
      cell: ({ status, nextAttemptAt }) => (
        <Stack gap={2} align="start">
          <DeliveryStatus status={status} />
          {status === 'pending' && (
            <Text size="xs" c="dimmed">
              {nextAttemptAt === null ? texts.deliveries.underWay : <Moment at={nextAttemptAt} mayBeAhead />}
            </Text>
          )}
        </Stack>
      ),
    },
    {
      header: texts.deliveries.lastAttempt,
      cell: ({ attempts }) => {
        const last = attempts.at(-1);
        if (!last) return null;
        const outcome = last.statusCode ?? texts.attempts.error[last.error ?? 'internal'];
        return (
          <Stack gap={0}>
            <Text size="sm" style={{ fontVariantNumeric: 'tabular-nums' }}>
              {outcome} · {formats.milliseconds(last.durationMs)}
            </Text>
            {attempts.length > 1 && (
              <Text size="xs" c="dimmed">
                {texts.deliveries.attemptCount(attempts.length)}
              </Text>
            )}
          </Stack>
        );
      },
    },
  ];
  return mayRedeliver ? [select, ...columns] : columns;
}
