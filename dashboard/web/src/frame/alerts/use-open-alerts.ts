import { useQuery } from '@tanstack/react-query';
import { api } from '../../api/client';
import type { OpenAlert, Page } from '../../api/types';

export const REFRESH_MS = 30_000;
/** Largest number of alerts that the overview shows. */
export const MAX_SHOWN = 10;

/**
 * Reads the newest open alerts of a workspace: now, every 30 seconds while the tab is visible, and when the
 * person comes back to it. Alerts that are mere news come last. Agents may not read them.
 */
export function useOpenAlerts(workspaceId: string, isEnabled = true): OpenAlert[] {
  const { data } = useQuery({
    queryKey: ['workspaces', workspaceId, 'alerts'],
    queryFn: ({ signal }) =>
      api.get<Page<OpenAlert>>(`/workspaces/${workspaceId}/alerts?open=true&limit=100`, signal),
    refetchInterval: REFRESH_MS,
    enabled: isEnabled,
  });
  const alerts = data?.data ?? [];
  return [...alerts.filter((alert) => !isNews(alert)), ...alerts.filter(isNews)];
}

/** Reports whether an alert is mere news, which asks nothing of the person. */
export function isNews({ kind }: OpenAlert): boolean {
  return kind === 'RECOVERY_FINISHED';
}
