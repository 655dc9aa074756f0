/**
 * Returns the SQL condition that a workspace is suspended. It uses the small index of suspended workspaces.
 * @param tenantId SQL expression of the workspace's id
 */
export const isSuspended = (tenantId: string) => `EXISTS (
  SELECT FROM workspaces suspended WHERE suspended.id = ${tenantId} AND suspended.suspended_at IS NOT NULL)`;
