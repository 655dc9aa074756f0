import { Injectable } from '@nestjs/common';
import { Database } from '../../database/database';
import { EventQueueRepository } from '../../outbox/event-queue.repository';
import { receivesEvent } from '../endpoints/subscription';
import { WebhookEndpoint } from '../endpoints/webhook-endpoint';
import { WebhookEndpointsRepository } from '../endpoints/webhook-endpoints.repository';
import { DeliveryFilter, matchesUnattempted } from './delivery-filter';
import { DeliveryRow } from './delivery-row';
import { deliveryIdOf, firstIdOf } from '../deliveries/delivery';
import { DeliveryHistoryRepository } from '../deliveries/delivery-history.repository';

const STEP = 1_000;

/**
 * Lists deliveries whose first attempt is under way. They have no row, so they are derived from the events
 * that a worker has claimed, and the endpoints that receive these events.
 */
@Injectable()
export class FirstAttempts {
  constructor(
    private readonly database: Database,
    private readonly events: EventQueueRepository,
    private readonly endpoints: WebhookEndpointsRepository,
    private readonly history: DeliveryHistoryRepository,
  ) {}

  /** Returns the newest deliveries that pass the filter: at least `count`, unless there are fewer. */
  async list(tenantId: string, filter: DeliveryFilter, count: number): Promise<DeliveryRow[]> {
    if (filter.statuses && !filter.statuses.includes('PENDING')) return [];
    const leased = await this.events.listLeased(tenantId);
    const events = leased.filter((event) => isAbout(event, filter)).sort((a, b) => (a.id < b.id ? 1 : -1));
    const endpoints = events.length > 0 ? await this.listActive(tenantId, filter) : [];
    if (endpoints.length === 0) return [];
    const found: DeliveryRow[] = [];
    for (let from = 0, to = 0; from < events.length && found.length < count; from = to) {
      to = endOfStep(events, from + Math.ceil(STEP / endpoints.length));
      found.push(
        ...(await this.filterUnrecorded(tenantId, rowsOf(events.slice(from, to), endpoints, filter))),
      );
    }
    return found;
  }

  async findMany(tenantId: string, ids: string[]): Promise<DeliveryRow[]> {
    const moments = new Set(ids.map(firstIdOf));
    const events = (await this.events.listLeased(tenantId)).filter(({ id }) => moments.has(firstIdOf(id)));
    if (events.length === 0) return [];
    const wanted = new Set(ids);
    const rows = rowsOf(events, await this.listActive(tenantId, {}), {});
    return this.filterUnrecorded(
      tenantId,
      rows.filter(({ id }) => wanted.has(id)),
    );
  }

  private async listActive(tenantId: string, { endpointId }: DeliveryFilter): Promise<WebhookEndpoint[]> {
    const endpoints = await this.endpoints.list(tenantId);
    return endpoints.filter(({ id, active }) => active && (endpointId === undefined || id === endpointId));
  }

  private async filterUnrecorded(tenantId: string, rows: DeliveryRow[]): Promise<DeliveryRow[]> {
    if (rows.length === 0) return [];
    const ids = rows.map(({ id }) => id);
    const recorded = await this.history.filterRecorded(this.database, tenantId, ids);
    return rows.filter(({ id }) => !recorded.has(id));
  }
}

type LeasedEvent = Awaited<ReturnType<EventQueueRepository['listLeased']>>[number];

/**
 * Reports whether an event is about the filter's conversation and message, and may have deliveries below its
 * cursor. A message's event has the message's id.
 */
function isAbout(event: LeasedEvent, { conversationId, messageId, cursor }: DeliveryFilter): boolean {
  return (
    (conversationId === undefined || event.conversationId === conversationId) &&
    (messageId === undefined || event.id === messageId) &&
    (cursor === undefined || firstIdOf(event.id) < cursor)
  );
}

/** Returns the index at which a step ends. It is never between two events of the same millisecond. */
function endOfStep(events: LeasedEvent[], to: number): number {
  while (to < events.length && firstIdOf(events[to]!.id) === firstIdOf(events[to - 1]!.id)) to++;
  return to;
}

function rowsOf(events: LeasedEvent[], endpoints: WebhookEndpoint[], filter: DeliveryFilter): DeliveryRow[] {
  return endpoints.flatMap((endpoint) =>
    events
      .filter((event) => receivesEvent(endpoint, event))
      .map((event) => firstAttempt(event, endpoint.id))
      .filter((row) => matchesUnattempted(row, filter)),
  );
}

function firstAttempt({ id: eventId, type: eventType }: LeasedEvent, endpointId: string): DeliveryRow {
  const id = deliveryIdOf(eventId, endpointId);
  return { id, endpointId, eventId, eventType, round: 0, status: 'PENDING', nextAttemptAt: null };
}
