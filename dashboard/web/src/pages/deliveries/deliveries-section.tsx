import { Anchor, Button, Checkbox, EmptyState, Group, Stack, Text, Title } from '@mantine/core';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { DeliverySummary } from '../../api/types';
import { useMayManage, useWorkspace } from '../../api/workspace';
import { type Column, DataTable } from '../../common/data-table';
import { Moment } from '../../common/moment';
import { Pager } from '../../common/pager';
import { useTexts } from '../../i18n/locale';
import { type FilterTexts, filterOf } from './delivery-filter';
import { DeliveryFilters } from './delivery-filters';
import { DeliveryStatus } from './delivery-status';
import { RedeliverAllDialog } from './redeliver-all-dialog';
import { RedeliverSelected } from './redeliver-selected';
import { useDeliveries } from './use-deliveries';

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
  const columns = useColumns({ endpointId, mayRedeliver, selected, setSelected });

  const setFilter = (changed: FilterTexts) => {
    setSelected([]);
    void navigate({ search: ({ period }) => ({ period, ...changed }), resetScroll: false });
  };
  return (
    <Stack component="section" aria-label={texts.deliveries.title}>
      <Group justify="space-between">
        <Title order={2} size="h4">
          {texts.deliveries.title}
        </Title>
        {mayRedeliver && (
          <Group gap="xs">
            <RedeliverSelected ids={selected} onDone={() => setSelected([])} />
            {isFiltered && filter.status !== 'pending' && (
              <Button variant="default" onClick={() => setRedeliveringAll(true)}>
                {texts.redeliver.allMatching}
              </Button>
            )}
          </Group>
        )}
      </Group>
      <DeliveryFilters filter={filter} onChange={setFilter} />
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

function useColumns({
  endpointId,
  mayRedeliver,
  selected,
  setSelected,
}: {
  endpointId: string;
  mayRedeliver: boolean;
  selected: string[];
  setSelected: (ids: string[]) => void;
}): Column<DeliverySummary>[] {
  const texts = useTexts();
  const { slug } = useWorkspace();
  const select: Column<DeliverySummary> = {
    header: texts.redeliver.select,
    isActions: true,
    cell: ({ id, event, status }) => (
      <Checkbox
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
    {
      header: texts.deliveries.event,
      cell: ({ id, event }) => (
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
      ),
    },
    { header: texts.filters.status, cell: ({ status }) => <DeliveryStatus status={status} /> },
    { header: texts.deliveries.created, cell: ({ createdAt }) => <Moment at={createdAt} isExact /> },
    {
      header: texts.deliveries.attempts,
      cell: ({ attempts }) => {
        const last = attempts.at(-1);
        return (
          <Text size="sm">
            {attempts.length}
            {last && ` · ${last.statusCode ?? texts.attempts.error[last.error ?? 'internal']}`}
          </Text>
        );
      },
    },
    {
      header: texts.deliveries.nextAttempt,
      cell: ({ status, nextAttemptAt }) =>
        status === 'pending' && nextAttemptAt === null ? (
          <Text size="sm">{texts.deliveries.underWay}</Text>
        ) : (
          nextAttemptAt && <Moment at={nextAttemptAt} mayBeAhead />
        ),
    },
  ];
  return mayRedeliver ? [select, ...columns] : columns;
}
