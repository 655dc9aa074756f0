import { ALL_EVENTS, EventType } from './event-catalog';

/**
 * Returns SQL that reports whether an active webhook endpoint of a workspace subscribes to a type of events.
 * The statement of a frequent change asks it along with the change, so that an event without a subscriber is
 * not stored: one look-up in `webhook_endpoints_active_idx`, of at most 50 rows, without a round trip. An
 * endpoint that was activated before the statement began is never missed. It is the one place where this
 * folder reads a table of `webhooks`, which no import shows.
 * @param tenantId SQL for the workspace's id
 */
export function hasSubscriberSql(tenantId: string, type: EventType): string {
  return `EXISTS (SELECT FROM webhook_endpoints subscriber
    WHERE subscriber.tenant_id = ${tenantId} AND subscriber.active
      AND subscriber.events && ARRAY['${ALL_EVENTS}', '${type}'])`;
}
