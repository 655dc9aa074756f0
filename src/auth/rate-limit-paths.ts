/** Templates of the API's paths. The rate limit counts the requests to each path separately. */
export const RATE_LIMITED_PATHS = [
  '/api/v1/me',
  '/api/v1/conversations',
  '/api/v1/conversations/:id',
  '/api/v1/conversations/:id/messages',
  '/api/v1/messages/search',
  '/api/v1/uploads',
  '/api/v1/uploads/:id',
  '/api/v1/uploads/:id/content',
  '/api/v1/attachments',
  '/api/v1/attachments/:id',
  '/api/v1/attachments/:id/content',
  '/api/v1/attachments/:id/retry',
  '/api/v1/contacts',
  '/api/v1/contacts/:id',
  '/api/v1/agents',
  '/api/v1/agents/:id',
  '/api/v1/webhook-endpoints',
  '/api/v1/webhook-endpoints/:id',
  '/api/v1/webhook-endpoints/:id/test',
  '/api/v1/webhook-endpoints/:id/roll-secret',
] as const;

export function rateKeyOf(tenantId: string, path: string): string {
  return `${tenantId}:${path}`;
}
