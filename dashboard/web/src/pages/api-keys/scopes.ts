import type { Scope } from '../../api/types';

// The record must be complete: with a scope missing it does not compile.
const ALL: Record<Scope, true> = {
  'conversations:read': true,
  'conversations:write': true,
  'messages:read': true,
  'messages:write': true,
  'contacts:read': true,
};
export const SCOPES = Object.keys(ALL) as Scope[];

export const PRESETS = {
  read: SCOPES.filter((scope) => scope.endsWith(':read')),
  answer: ['conversations:read', 'messages:read', 'messages:write'],
  all: SCOPES,
} as const satisfies Record<string, readonly Scope[]>;
