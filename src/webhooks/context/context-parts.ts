import { AppError } from '../../common/app-error';
import { Scope } from '../../access/permissions';
import { Actor, hasScope } from '../../access/principal';

/** Scope with which an API key can read each part of a context by itself. */
const READ_SCOPES = {
  conversation: 'conversations:read',
  contact: 'contacts:read',
  sender: 'agents:read',
} as const satisfies Record<string, Scope>;

/** Part of the context that a delivery has beside its event, for an endpoint that asks for it. */
export type ContextPart = keyof typeof READ_SCOPES;

export const CONTEXT_PARTS = Object.keys(READ_SCOPES) as ContextPart[];

/**
 * Returns the parts of the context that an endpoint gets: all that the actor who asks for it may read. A key
 * may read by its scopes; every other actor who manages endpoints may read all parts.
 */
export function partsFor(actor: Actor): ContextPart[] {
  return CONTEXT_PARTS.filter((part) => hasScope(actor, [READ_SCOPES[part]]));
}

/**
 * Refuses an API key that may not read a part of an endpoint's context: it could have the part sent to an
 * address of its own.
 * @throws AppError FORBIDDEN
 */
export function requireContextScopes(actor: Actor, parts: ContextPart[] | null): void {
  const unreadable = parts?.find((part) => !hasScope(actor, [READ_SCOPES[part]]));
  if (unreadable)
    throw AppError.because('FORBIDDEN', 'key_lacks_context_scope', { scope: READ_SCOPES[unreadable] });
}
