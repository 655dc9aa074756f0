/** In SQL: whether a workspace is suspended. It reads the index of the few that are. */
export const isSuspended = (tenantId: string) => `EXISTS (
  SELECT FROM workspaces suspended WHERE suspended.id = ${tenantId} AND suspended.suspended_at IS NOT NULL)`;
