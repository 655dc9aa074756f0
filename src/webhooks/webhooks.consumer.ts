import { Injectable, OnModuleInit } from '@nestjs/common';
import { newId } from '../common/ids';
import { Transaction } from '../database/database';
import { OutboxConsumer, OutboxEvent, OutboxRelay } from '../outbox/outbox.relay';
import { isEntitled } from '../workspaces/plan-policy';
import { WorkspacesRepository } from '../workspaces/workspaces.repository';
import { DeliveryQueue } from './deliveries/delivery.queue';
import { NewDelivery, WebhookDeliveriesRepository } from './deliveries/webhook-deliveries.repository';
import { isSubscribed } from './endpoints/webhook-endpoint.dto';
import { Subscriber, WebhookEndpointsRepository } from './endpoints/webhook-endpoints.repository';

/** Turns events into the deliveries that are owed for them. */
@Injectable()
export class WebhooksConsumer implements OutboxConsumer, OnModuleInit {
  constructor(
    private readonly relay: OutboxRelay,
    private readonly endpoints: WebhookEndpointsRepository,
    private readonly deliveries: WebhookDeliveriesRepository,
    private readonly workspaces: WorkspacesRepository,
    private readonly queue: DeliveryQueue,
  ) {}

  onModuleInit(): void {
    this.relay.register(this);
  }

  async consume(tx: Transaction, events: OutboxEvent[]): Promise<void> {
    const owed = await this.owedFor(tx, await this.withoutUnentitled(tx, events));
    if (owed.length === 0) return;
    await this.deliveries.insertMany(tx, owed);
    const endpointIds = new Set(owed.map(({ endpointId }) => endpointId));
    tx.onCommit(() => this.queue.wake(endpointIds));
  }

  private async owedFor(tx: Transaction, events: OutboxEvent[]): Promise<NewDelivery[]> {
    if (events.length === 0) return [];
    const tenantIds = new Set(events.map(({ tenantId }) => tenantId));
    const subscribers = byTenant(await this.endpoints.subscribers(tx, [...tenantIds]));
    return events.flatMap(({ id: eventId, tenantId, type: eventType }) =>
      (subscribers.get(tenantId) ?? [])
        .filter(({ events }) => isSubscribed(events, eventType))
        .map(({ id: endpointId }) => ({ tenantId, id: newId(), endpointId, eventId, eventType })),
    );
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

function byTenant(subscribers: Subscriber[]): Map<string, Subscriber[]> {
  const groups = new Map<string, Subscriber[]>();
  for (const subscriber of subscribers) {
    const group = groups.get(subscriber.tenantId);
    if (group) group.push(subscriber);
    else groups.set(subscriber.tenantId, [subscriber]);
  }
  return groups;
}
