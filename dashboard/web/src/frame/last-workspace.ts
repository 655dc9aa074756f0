import type { Workspace } from '../api/types';

const STORAGE_KEY = 'dashboard-workspace';

export function rememberWorkspace(slug: string): void {
  localStorage.setItem(STORAGE_KEY, slug);
}

/** Returns the only workspace, or the one visited last in this browser; undefined if there is neither. */
export function firstWorkspace(workspaces: Workspace[]): Workspace | undefined {
  if (workspaces.length === 1) return workspaces[0];
  const slug = localStorage.getItem(STORAGE_KEY);
  return workspaces.find((workspace) => workspace.slug === slug);
}
