import { keepPreviousData, queryOptions, usePrefetchQuery, useQuery } from '@tanstack/react-query';
import { api, toQuery } from '../../api/client';
import type { DeliverySummary, Page } from '../../api/types';
import { useWorkspace } from '../../api/workspace';
import type { FilterTexts } from './delivery-filter';

const REFRESH_MS = 5_000;
/** Largest number of empty pages that are read in a row before the person decides whether to go on. */
const MAX_STEPS = 10;

/** Reads a page of an endpoint's deliveries. While pages are empty, reads up to 10 in a row. */
export function useDeliveries(...page: DeliveriesPage) {
  return useQuery({
    ...deliveriesQuery(useWorkspace().id, ...page),
    refetchInterval: REFRESH_MS,
    placeholderData: keepPreviousData,
  });
}

/** Begins to read a page of deliveries early, so that `useDeliveries` finds it in the cache. */
export function usePrefetchDeliveries(...page: DeliveriesPage): void {
  usePrefetchQuery(deliveriesQuery(useWorkspace().id, ...page));
}

type DeliveriesPage = [endpointId: string, filter: FilterTexts, cursor: string | undefined];

function deliveriesQuery(workspaceId: string, ...[endpointId, filter, cursor]: DeliveriesPage) {
  const path = `/workspaces/${workspaceId}/webhook-endpoints/${endpointId}/deliveries`;
  return queryOptions({
    queryKey: ['workspaces', workspaceId, 'deliveries', endpointId, filter, cursor],
    queryFn: async ({ signal }) => {
      let page = await api.get<Page<DeliverySummary>>(path + toQuery({ ...filter, cursor }), signal);
      for (let step = 1; step < MAX_STEPS && page.data.length === 0 && page.nextCursor; step += 1)
        page = await api.get(path + toQuery({ ...filter, cursor: page.nextCursor }), signal);
      return page;
    },
  });
}
