import { useQuery } from '@tanstack/react-query';
import { api } from '../../api/client';
import type { OpenAlert, Page } from '../../api/types';

const REFRESH_MS = 10_000;

/** Reads the newest open alerts of a workspace, now and every 10 seconds. */
export function useOpenAlerts(workspaceId: string): OpenAlert[] {
  const { data } = useQuery({
    queryKey: ['workspaces', workspaceId, 'alerts'],
    queryFn: ({ signal }) =>
      api.get<Page<OpenAlert>>(`/workspaces/${workspaceId}/alerts?open=true&limit=100`, signal),
    refetchInterval: REFRESH_MS,
  });
  return data?.data ?? [];
}
