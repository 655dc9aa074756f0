/** Pages of a workspace that an AGENT may open. The others show what only owners and admins may read. */
export const AGENT_PAGES = ['overview', 'workspace', 'agents'];

/** Returns the page of an address below a workspace, such as `webhooks`. */
export function pageOf(path: string): string {
  return path.split('/')[4] ?? '';
}
