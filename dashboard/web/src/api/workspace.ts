import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { createContext, useContext } from 'react';
import { useAnnounce } from '../common/announcer';
import { api, toQuery } from './client';
import type { Workspace } from './types';

const REFRESH_MS = 10_000;

const WorkspaceContext = createContext<Workspace | null>(null);
export const WorkspaceProvider = WorkspaceContext;

/** Returns the workspace of the page's address. */
export function useWorkspace(): Workspace {
  const workspace = useContext(WorkspaceContext);
  if (!workspace) throw new Error('This page is of no workspace.');
  return workspace;
}

/**
 * Reports whether the person may change settings here. The server decides; the page only hides the acts that
 * the server would refuse.
 */
export function useMayManage(): boolean {
  return useWorkspace().role !== 'AGENT';
}

/** Reads a path below the workspace, repeatedly while the page is visible. */
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
 * Makes a change below the workspace. After it, everything that the page shows of the workspace is read
 * again.
 * @param send gets the workspace's path
 * @param done is announced
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
