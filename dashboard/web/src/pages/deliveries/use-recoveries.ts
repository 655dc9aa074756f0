import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import type { Recovery } from '../../api/types';
import { useRead, useWorkspace } from '../../api/workspace';

const REFRESH_MS = 2_000;

export function useRecoveries(endpointId: string) {
  return useRead<{ data: Recovery[] }>(
    `webhook-endpoints/${endpointId}/recoveries`,
    {},
    { refreshMs: REFRESH_MS },
  );
}

/** Reads an endpoint and its deliveries again whenever the progress of one of its recoveries changes. */
export function useFollowRecoveries(endpointId: string): void {
  const { id } = useWorkspace();
  const queries = useQueryClient();
  const { data } = useRecoveries(endpointId);
  const progress = data?.data.map(({ recovered, pending, status }) => `${recovered} ${pending} ${status}`);
  const mark = progress?.join();
  const seen = useRef(mark);
  useEffect(() => {
    const isChanged = seen.current !== undefined && seen.current !== mark;
    seen.current = mark;
    if (!isChanged) return;
    void queries.invalidateQueries({ queryKey: ['workspaces', id, 'deliveries', endpointId] });
    void queries.invalidateQueries({ queryKey: ['workspaces', id, `webhook-endpoints/${endpointId}`] });
  }, [queries, id, endpointId, mark]);
}
