/** What an API key may be allowed to do. */
export const SCOPES = [
  'conversations:read',
  'conversations:write',
  'messages:read',
  'messages:write',
  'contacts:read',
] as const;
export type Scope = (typeof SCOPES)[number];
