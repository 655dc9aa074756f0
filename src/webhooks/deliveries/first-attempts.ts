import { Injectable } from '@nestjs/common';
import { Database } from '../../database/database';
import { EventQueueRepository } from '../../outbox/event-queue.repository';
import { isSubscribed } from '../endpoints/webhook-endpoint.dto';
import { WebhookEndpointsRepository } from '../endpoints/webhook-endpoints.repository';
import { DeliveryFilter, DeliveryRow, matches } from './delivery-filter';
import { DeliveryHistoryRepository } from './delivery-history.repository';
import { deliveryIdOf } from './delivery-id';
import { PendingDeliveriesRepository } from './pending-deliveries.repository';

/** Deliveries under way for the first time. They have no row: each is an event under a lease, and an endpoint. */
@Injectable()
export class FirstAttempts {
  constructor(
    private readonly database: Database,
    private readonly events: EventQueueRepository,
    private readonly endpoints: WebhookEndpointsRepository,
    private readonly pending: PendingDeliveriesRepository,
    private readonly history: DeliveryHistoryRepository,
  ) {}

  async list(tenantId: string, filter: DeliveryFilter): Promise<DeliveryRow[]> {
    if (filter.status !== undefined && filter.status !== 'PENDING') return [];
    const events = await this.events.leased(tenantId);
    if (events.length === 0) return [];
    const endpoints = (await this.endpoints.list(tenantId)).filter(({ active }) => active);
    const rows = endpoints.flatMap((endpoint) =>
      events
        .filter(
          ({ type, queuedAt }) => isSubscribed(endpoint.events, type) && queuedAt >= endpoint.activatedAt,
        )
        .map((event) => firstAttempt(event, endpoint.id))
        .filter((row) => matches(row, filter)),
    );
    const recorded = await this.recordedOf(
      tenantId,
      rows.map(({ id }) => id),
    );
    return rows.filter(({ id }) => !recorded.has(id));
  }

  async find(tenantId: string, id: string): Promise<DeliveryRow | null> {
    const rows = await this.list(tenantId, {});
    return rows.find((row) => row.id === id) ?? null;
  }

  private async recordedOf(tenantId: string, ids: string[]): Promise<Set<string>> {
    const pending = await this.pending.existing(this.database, tenantId, ids);
    const finished = await this.history.latestRounds(this.database, tenantId, ids);
    return new Set([...pending, ...finished.map(({ id }) => id)]);
  }
}

function firstAttempt(
  { id: eventId, type: eventType }: { id: string; type: string },
  endpointId: string,
): DeliveryRow {
  const id = deliveryIdOf(eventId, endpointId);
  return { id, endpointId, eventId, eventType, round: 0, status: 'PENDING', nextAttemptAt: null };
}
