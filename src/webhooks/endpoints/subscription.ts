import { Injectable } from '@nestjs/common';
import { Reader } from '../../database/database';
import { ALL_EVENTS, entitlementOf, eventCatalog, isTest, TEST_TYPES } from '../../outbox/event-catalog';
import { OutboxEvent } from '../../outbox/event-queue.repository';
import { isEntitled } from '../../workspaces/plan-policy';
import { WorkspaceEntity } from '../../workspaces/workspace.entity';
import { WorkspacesRepository } from '../../workspaces/workspaces.repository';
import { WebhookEndpoint } from './webhook-endpoint';

function isSubscribed(events: string[], type: string): boolean {
  return events.includes(ALL_EVENTS) || events.includes(type);
}

/** Reports whether an endpoint receives events of a type. Every endpoint receives tests. */
export function receivesType({ events }: Pick<WebhookEndpoint, 'events'>, type: string): boolean {
  return isTest(type) || isSubscribed(events, type);
}

/** Reports whether an endpoint no longer receives a type that it received before. */
export function receivesFewerTypes(
  { events: now }: Pick<WebhookEndpoint, 'events'>,
  { events: before }: Pick<WebhookEndpoint, 'events'>,
): boolean {
  return !now.includes(ALL_EVENTS) && before.some((type) => !now.includes(type));
}

/**
 * SQL condition that the delivery `p` may still be sent to the endpoint `w`: `w` is active, receives the
 * event type, and was not activated again after `p` was made.
 */
export const IS_OWED = `(w.active AND p.activation = w.activation
  AND (w.events && ARRAY['${ALL_EVENTS}', p.event_type] OR p.event_type IN (${TEST_TYPES.map((type) => `'${type}'`).join(', ')})))`;

/** Reports whether an endpoint subscribes to a type, and was activated before the event was queued. */
export function receivesEvent(
  { events, activatedAt }: Pick<WebhookEndpoint, 'events' | 'activatedAt'>,
  { type, queuedAt }: { type: string; queuedAt: Date },
): boolean {
  return isSubscribed(events, type) && queuedAt >= activatedAt;
}

@Injectable()
export class EndpointSubscription {
  constructor(private readonly workspaces: WorkspacesRepository) {}

  /** Returns the events that the workspaces' plans include. It reads plans only if a type depends on them. */
  async filterEntitled<Event extends Pick<OutboxEvent, 'tenantId' | 'type'>>(
    reader: Reader,
    events: Event[],
  ): Promise<Event[]> {
    const restricted = events.filter(({ type }) => entitlementOf(type) !== null);
    if (restricted.length === 0) return events;
    const tenantIds = [...new Set(restricted.map(({ tenantId }) => tenantId))];
    const found = await this.workspaces.findMany(reader, tenantIds);
    const workspaces = new Map(found.map((workspace) => [workspace.id, workspace]));
    return events.filter(({ tenantId, type }) => allows(workspaces.get(tenantId), type));
  }

  /** Returns the event types that an endpoint subscribes to and the plan includes, without tests. */
  async listTypes(
    reader: Reader,
    { tenantId, events }: Pick<WebhookEndpoint, 'tenantId' | 'events'>,
  ): Promise<string[]> {
    const [workspace] = await this.workspaces.findMany(reader, [tenantId]);
    return Object.keys(eventCatalog).filter(
      (type) => !isTest(type) && allows(workspace, type) && isSubscribed(events, type),
    );
  }
}

function allows(workspace: WorkspaceEntity | undefined, type: string): boolean {
  const entitlement = entitlementOf(type);
  return entitlement === null || (workspace !== undefined && isEntitled(workspace, entitlement));
}
