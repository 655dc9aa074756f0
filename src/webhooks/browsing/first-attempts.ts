import { Injectable } from '@nestjs/common';
import { Database } from '../../database/database';
import { EventQueueRepository } from '../../outbox/event-queue.repository';
import { takesEvent } from '../endpoints/subscription';
import { WebhookEndpointsRepository } from '../endpoints/webhook-endpoints.repository';
import { DeliveryFilter, matchesUnattempted } from './delivery-filter';
import { DeliveryRow } from './delivery-row';
import { deliveryIdOf } from '../deliveries/delivery';
import { RecordedDeliveries } from '../deliveries/recorded-deliveries';

/**
 * Lists deliveries whose first attempt is under way. They have no row: each is an event under a lease, and an
 * endpoint.
 */
@Injectable()
export class FirstAttempts {
  constructor(
    private readonly database: Database,
    private readonly events: EventQueueRepository,
    private readonly endpoints: WebhookEndpointsRepository,
    private readonly recorded: RecordedDeliveries,
  ) {}

  async list(tenantId: string, filter: DeliveryFilter): Promise<DeliveryRow[]> {
    if (filter.statuses && !filter.statuses.includes('PENDING')) return [];
    const events = (await this.events.listLeased(tenantId)).filter((event) => isAbout(event, filter));
    if (events.length === 0) return [];
    const endpoints = (await this.endpoints.list(tenantId)).filter(({ active }) => active);
    const rows = endpoints.flatMap((endpoint) =>
      events
        .filter((event) => takesEvent(endpoint, event))
        .map((event) => firstAttempt(event, endpoint.id))
        .filter((row) => matchesUnattempted(row, filter)),
    );
    const ids = rows.map(({ id }) => id);
    const recorded = await this.recorded.filterRecorded(this.database, tenantId, ids);
    return rows.filter(({ id }) => !recorded.has(id));
  }

  async find(tenantId: string, id: string): Promise<DeliveryRow | null> {
    const rows = await this.list(tenantId, {});
    return rows.find((row) => row.id === id) ?? null;
  }
}

type LeasedEvent = Awaited<ReturnType<EventQueueRepository['listLeased']>>[number];

/** Reports whether an event is about what the filter names. A message's event has the message's id. */
function isAbout(event: LeasedEvent, { conversationId, messageId }: DeliveryFilter): boolean {
  return (
    (conversationId === undefined || event.conversationId === conversationId) &&
    (messageId === undefined || event.id === messageId)
  );
}

function firstAttempt({ id: eventId, type: eventType }: LeasedEvent, endpointId: string): DeliveryRow {
  const id = deliveryIdOf(eventId, endpointId);
  return { id, endpointId, eventId, eventType, round: 0, status: 'PENDING', nextAttemptAt: null };
}
