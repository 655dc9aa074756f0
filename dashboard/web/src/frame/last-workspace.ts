import type { Workspace } from '../api/types';

const STORAGE_KEY = 'dashboard-workspace';

/** Remembers the workspace in which the next visit begins. */
export function rememberWorkspace(slug: string): void {
  localStorage.setItem(STORAGE_KEY, slug);
}

/** Returns the workspace to begin with; undefined when the person has to choose. */
export function firstWorkspace(workspaces: Workspace[]): Workspace | undefined {
  if (workspaces.length === 1) return workspaces[0];
  const slug = localStorage.getItem(STORAGE_KEY);
  return workspaces.find((workspace) => workspace.slug === slug);
}
