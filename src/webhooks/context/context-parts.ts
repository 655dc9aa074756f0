import { AppError } from '../../common/app-error';
import { Scope } from '../../access/permissions';
import { Actor, hasScope } from '../../access/principal';

/** Scopes of which an API key needs one to read a part of a context, as it does to read it from the API. */
const READ_SCOPES = {
  conversation: ['conversations:read'],
  contact: ['contacts:read'],
  sender: ['agents:read'],
  attachments: ['messages:read', 'conversations:read'],
} as const satisfies Record<string, readonly [Scope, ...Scope[]]>;

/** Part of a context: the conversation, contact, sender or attachments that go with an event. */
export type ContextPart = keyof typeof READ_SCOPES;

export const CONTEXT_PARTS = Object.keys(READ_SCOPES) as ContextPart[];

/** Returns the parts of a context that an actor may read. Only API keys are limited, by their scopes. */
export function partsFor(actor: Actor): ContextPart[] {
  return CONTEXT_PARTS.filter((part) => hasScope(actor, READ_SCOPES[part]));
}

/**
 * Refuses an API key that may not read all parts of an endpoint's context, because the key could have them
 * sent to its own address.
 * @throws AppError FORBIDDEN
 */
export function requireContextScopes(actor: Actor, parts: ContextPart[] | null): void {
  const unreadable = parts?.find((part) => !hasScope(actor, READ_SCOPES[part]));
  if (unreadable)
    throw AppError.because('FORBIDDEN', 'key_lacks_context_scope', { scope: READ_SCOPES[unreadable][0] });
}
