import { Injectable, OnModuleInit } from '@nestjs/common';
import { Transaction } from '../database/transaction';
import { OutboxConsumer, OutboxEvent, OutboxRelay } from '../outbox/outbox.relay';
import { isEntitled } from '../workspaces/plan-policy';
import { WorkspacesRepository } from '../workspaces/workspaces.repository';
import { DeliveryFanOut } from './deliveries/delivery-fan-out';
import { isSubscribed } from './endpoints/webhook-endpoint.dto';
import { Subscriber, WebhookEndpointsRepository } from './endpoints/webhook-endpoints.repository';

/** Turns events into the deliveries that are owed for them. */
@Injectable()
export class WebhooksConsumer implements OutboxConsumer, OnModuleInit {
  constructor(
    private readonly relay: OutboxRelay,
    private readonly endpoints: WebhookEndpointsRepository,
    private readonly workspaces: WorkspacesRepository,
    private readonly deliveries: DeliveryFanOut,
  ) {}

  onModuleInit(): void {
    this.relay.register(this);
  }

  async consume(tx: Transaction, events: OutboxEvent[]): Promise<void> {
    const wanted = await this.wantedBy(tx, await this.withoutUnentitled(tx, events));
    if (wanted.size > 0) this.deliveries.owe(tx, wanted);
  }

  /** Which of the events each endpoint has subscribed to. */
  private async wantedBy(tx: Transaction, events: OutboxEvent[]): Promise<Map<Subscriber, OutboxEvent[]>> {
    const wanted = new Map<Subscriber, OutboxEvent[]>();
    if (events.length === 0) return wanted;
    const byTenant = groupBy(events, ({ tenantId }) => tenantId);
    for (const endpoint of await this.endpoints.subscribers(tx, [...byTenant.keys()])) {
      const theirs = byTenant
        .get(endpoint.tenantId)!
        .filter(({ type }) => isSubscribed(endpoint.events, type));
      if (theirs.length > 0) wanted.set(endpoint, theirs);
    }
    return wanted;
  }

  /** Every audit entry appends its event; only workspaces with the entitlement get it sent. */
  private async withoutUnentitled(tx: Transaction, events: OutboxEvent[]): Promise<OutboxEvent[]> {
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
