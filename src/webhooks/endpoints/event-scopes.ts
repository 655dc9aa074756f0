import { AppError } from '../../common/app-error';
import { Scope } from '../../access/permissions';
import { Actor, hasScope } from '../../access/principal';
import { EventType, isEventType } from '../../outbox/event-catalog';

/**
 * Scopes that allow an API key to read the data of an event type. A key needs one of them to manage an
 * endpoint for the type. With an empty list, every key may manage the type; with null, no key may.
 */
const READ_SCOPES: Record<EventType, readonly Scope[] | null> = {
  'message.created': ['messages:read', 'conversations:read'],
  'message.status_changed': ['messages:read', 'conversations:read'],
  'attachment.updated': ['messages:read', 'conversations:read'],
  'message.updated': ['messages:read', 'conversations:read'],
  'conversation.created': ['conversations:read'],
  'conversation.updated': ['conversations:read'],
  'contact.created': ['contacts:read'],
  'contact.updated': ['contacts:read'],
  'contact.merged': ['contacts:read'],
  'channel.status_changed': null,
  'alert.opened': null,
  'alert.resolved': null,
  'audit.event': null,
  'webhook.test': [],
};

/**
 * Refuses an API key that may not read the data that an endpoint is sent. Otherwise the key could get,
 * through the endpoint, data that its scopes do not allow.
 * @param events event types of the endpoint, or `*` for all, also those that are added in future
 * @throws AppError FORBIDDEN
 */
export function requireEventScopes(actor: Actor, events: string[]): void {
  if (actor.type !== 'api_key') return;
  for (const event of events) {
    const scopes = isEventType(event) ? READ_SCOPES[event] : null;
    if (scopes === null) throw AppError.because('FORBIDDEN', 'event_not_for_keys', { event });
    if (scopes.length > 0 && !hasScope(actor, scopes))
      throw AppError.because('FORBIDDEN', 'key_lacks_event_scope', { event, scope: scopes.join(' or ') });
  }
}
