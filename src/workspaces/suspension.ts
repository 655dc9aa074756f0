/**
 * Returns an SQL condition: whether a workspace is suspended. It uses the index of suspended workspaces,
 * which are few.
 */
export const isSuspended = (tenantId: string) => `EXISTS (
  SELECT FROM workspaces suspended WHERE suspended.id = ${tenantId} AND suspended.suspended_at IS NOT NULL)`;
