import { Injectable, OnModuleInit } from '@nestjs/common';
import { Transaction } from '../database/transaction';
import { OutboxConsumer, OutboxEvent, OutboxRelay } from '../outbox/outbox.relay';
import { isEntitled } from '../workspaces/plan-policy';
import { WorkspacesRepository } from '../workspaces/workspaces.repository';
import { DeliveryFanOut } from './deliveries/delivery-fan-out';
import { isSubscribed } from './endpoints/webhook-endpoint.dto';
import { Subscriber, WebhookEndpointsRepository } from './endpoints/webhook-endpoints.repository';

/** Enqueues the deliveries of events to the endpoints that have subscribed to them. */
@Injectable()
export class WebhooksConsumer implements OutboxConsumer, OnModuleInit {
  constructor(
    private readonly relay: OutboxRelay,
    private readonly endpoints: WebhookEndpointsRepository,
    private readonly workspaces: WorkspacesRepository,
    private readonly fanOut: DeliveryFanOut,
  ) {}

  onModuleInit(): void {
    this.relay.register(this);
  }

  async consume(tx: Transaction, events: OutboxEvent[]): Promise<void> {
    const subscribed = await this.bySubscriber(tx, await this.onlyEntitled(tx, events));
    if (subscribed.size > 0) this.fanOut.insertPipelined(tx, subscribed);
  }

  private async bySubscriber(
    tx: Transaction,
    events: OutboxEvent[],
  ): Promise<Map<Subscriber, OutboxEvent[]>> {
    const subscribed = new Map<Subscriber, OutboxEvent[]>();
    if (events.length === 0) return subscribed;
    const byTenant = groupBy(events, ({ tenantId }) => tenantId);
    for (const endpoint of await this.endpoints.subscribers(tx, [...byTenant.keys()])) {
      const matching = byTenant
        .get(endpoint.tenantId)!
        .filter(({ type }) => isSubscribed(endpoint.events, type));
      if (matching.length > 0) subscribed.set(endpoint, matching);
    }
    return subscribed;
  }

  /** Drops the audit events of workspaces without the entitlement to export them. */
  private async onlyEntitled(tx: Transaction, events: OutboxEvent[]): Promise<OutboxEvent[]> {
    const audited = new Set(
      events.filter(({ type }) => type === 'audit.event').map(({ tenantId }) => tenantId),
    );
    if (audited.size === 0) return events;
    const workspaces = await this.workspaces.findMany(tx, [...audited]);
    const entitled = new Set(
      workspaces.filter((w) => isEntitled(w, 'auditWebhookExport')).map(({ id }) => id),
    );
    return events.filter(({ type, tenantId }) => type !== 'audit.event' || entitled.has(tenantId));
  }
}

function groupBy<T>(items: T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group) group.push(item);
    else groups.set(keyOf(item), [item]);
  }
  return groups;
}
