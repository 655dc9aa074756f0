import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { createContext, useContext } from 'react';
import { useAnnounce } from '../common/announcer';
import { api, toQuery } from './client';
import type { Workspace } from './types';

const REFRESH_MS = 10_000;

const WorkspaceContext = createContext<Workspace | null>(null);
export const WorkspaceProvider = WorkspaceContext;

/** Returns the workspace that the page's address names. Throws on a page of no workspace. */
export function useWorkspace(): Workspace {
  const workspace = useContext(WorkspaceContext);
  if (!workspace) throw new Error('This page is of no workspace.');
  return workspace;
}

/** Reports whether the person may change settings. The server checks this as well. */
export function useMayManage(): boolean {
  return useWorkspace().role !== 'AGENT';
}

/** Reads a path below `/workspaces/:id/` now and every `refreshMs` ms while the page is visible. */
export function useRead<T>(
  path: string,
  query: object = {},
  { refreshMs = REFRESH_MS, isEnabled = true }: { refreshMs?: number | false; isEnabled?: boolean } = {},
) {
  const { id } = useWorkspace();
  return useQuery({
    queryKey: ['workspaces', id, path, query],
    queryFn: ({ signal }) => api.get<T>(`/workspaces/${id}/${path}${toQuery(query)}`, signal),
    refetchInterval: refreshMs,
    enabled: isEnabled,
    placeholderData: keepPreviousData,
  });
}

/**
 * Returns a mutation that changes something in the workspace. After success, all cached data of the workspace
 * is read again.
 * @param send receives the path `/workspaces/:id` and the input
 * @param done text that is announced after success
 */
export function useChange<Input = void, Output = unknown>(
  send: (at: string, input: Input) => Promise<Output>,
  done?: string,
) {
  const { id } = useWorkspace();
  const queries = useQueryClient();
  const announce = useAnnounce();
  return useMutation({
    mutationFn: (input: Input) => send(`/workspaces/${id}`, input),
    onSuccess: () => {
      if (done) announce(done);
      return queries.invalidateQueries({ queryKey: ['workspaces', id] });
    },
  });
}
