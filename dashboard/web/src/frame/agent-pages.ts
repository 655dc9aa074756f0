import type { Workspace } from '../api/types';

/** Pages of a workspace that an AGENT may open. Only owners and admins may read the others. */
export const AGENT_PAGES = ['inbox', 'contacts', 'overview', 'workspace', 'agents', 'saved-replies'];

/** Returns the page of an address below a workspace, such as `inbox` or `webhooks`. */
export function pageOf(path: string): string {
  const [, , , first, second] = path.split('/');
  return (first === 'settings' ? second : first) ?? '';
}

/** Returns the page with which a workspace begins: an AGENT's inbox, and the overview for its managers. */
export function homeOf({ role }: Pick<Workspace, 'role'>): '/w/$slug/inbox' | '/w/$slug/settings/overview' {
  return role === 'AGENT' ? '/w/$slug/inbox' : '/w/$slug/settings/overview';
}
