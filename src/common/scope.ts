export const SCOPE_DESCRIPTIONS = {
  'conversations:read': 'list and read conversations and their messages',
  'conversations:write': 'close, reopen or reassign conversations',
  'messages:read': "read a conversation's message history",
  'messages:write': 'send a message as an agent',
  'contacts:read': 'list and search contacts',
} as const;
export type Scope = keyof typeof SCOPE_DESCRIPTIONS;
export const SCOPES = Object.keys(SCOPE_DESCRIPTIONS) as unknown as readonly [Scope, ...Scope[]];
