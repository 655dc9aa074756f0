import type { Workspace } from '../api/types';

/** Pages of a workspace that the role AGENT may open. Owners and admins may open all pages. */
export const AGENT_PAGES = ['inbox', 'contacts', 'overview', 'workspace', 'agents', 'saved-replies'];

/** Returns the page in the path of an address below a workspace, such as `inbox` or `webhooks`. */
export function pageOf(path: string): string {
  const [, , , first, second] = path.split('/');
  return (first === 'settings' ? second : first) ?? '';
}

export function homeOf({ role }: Pick<Workspace, 'role'>): '/w/$slug/inbox' | '/w/$slug/settings/overview' {
  return role === 'AGENT' ? '/w/$slug/inbox' : '/w/$slug/settings/overview';
}
