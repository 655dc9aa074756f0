import { Injectable } from '@nestjs/common';
import { Reader } from '../../database/database';
import { entitlementOf, eventCatalog, isTest } from '../../outbox/event-catalog';
import { OutboxEvent } from '../../outbox/event-queue.repository';
import { isEntitled } from '../../workspaces/plan-policy';
import { WorkspaceEntity } from '../../workspaces/workspace.entity';
import { WorkspacesRepository } from '../../workspaces/workspaces.repository';
import { isSubscribed } from './webhook-endpoint.dto';
import { WebhookEndpointEntity } from './webhook-endpoint.entity';

/** What a workspace's plan lets its endpoints receive. */
@Injectable()
export class EndpointSubscription {
  constructor(private readonly workspaces: WorkspacesRepository) {}

  /** Returns the events that the plans of their workspaces allow. Reads only workspaces with a type that needs a plan. */
  async onlyEntitled<Event extends Pick<OutboxEvent, 'tenantId' | 'type'>>(
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

  /** Returns the event types of an endpoint's subscription that its workspace's plan allows, without tests. */
  async typesOf(
    reader: Reader,
    { tenantId, events }: Pick<WebhookEndpointEntity, 'tenantId' | 'events'>,
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
