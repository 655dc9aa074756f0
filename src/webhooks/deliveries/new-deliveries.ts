import { Injectable } from '@nestjs/common';
import { newId } from '../../common/ids';
import { Transaction } from '../../database/database';
import { OutboxEvent } from '../../outbox/outbox.relay';
import { Subscriber } from '../endpoints/webhook-endpoints.repository';
import { ClaimedDelivery } from './claimed-delivery';
import { DeliveryClaimer } from './delivery.claimer';
import { DeliveryDispatcher } from './delivery.dispatcher';
import { DeliveryQueue } from './delivery.queue';
import { MAX_ATTEMPTS } from './retry-schedule';
import { WebhookDeliveriesRepository } from './webhook-deliveries.repository';

/**
 * Owes events to endpoints. What this process has room for is claimed as it is made, and starts with the commit; an
 * endpoint with more to come, or more that waits already, is woken for its turn.
 */
@Injectable()
export class NewDeliveries {
  constructor(
    private readonly deliveries: WebhookDeliveriesRepository,
    private readonly claimer: DeliveryClaimer,
    private readonly dispatcher: DeliveryDispatcher,
    private readonly queue: DeliveryQueue,
  ) {}

  /** Goes out with the commit, at the latest. */
  owe(tx: Transaction, wanted: Map<Subscriber, OutboxEvent[]>): void {
    const leaseId = newId();
    const owed = [...wanted].map(([endpoint, events]) => ({
      endpoint,
      places: this.placesFor(endpoint, events.length),
      deliveries: events.map((event) => toDelivery(endpoint, event, leaseId)),
    }));
    const inserted = this.deliveries.insertMany(
      tx,
      owed.flatMap(({ deliveries, places }) =>
        deliveries.map((delivery, n) => ({ ...delivery, leaseId: n < places ? leaseId : null })),
      ),
    );
    // Of those that were owed already, by a recovery, another one has charge.
    const ids = tx.isCommitted.then(
      async (isCommitted) => new Set(isCommitted ? (await inserted).map(({ id }) => id) : []),
    );
    for (const { endpoint, places, deliveries } of owed) {
      const claimed = deliveries.slice(0, places);
      this.dispatcher.fill(
        endpoint.id,
        places,
        ids.then((ids) => claimed.filter(({ id }) => ids.has(id))),
      );
    }
    const waiting = owed.filter(({ places, deliveries }) => places < deliveries.length);
    tx.onCommit(() => this.queue.wake(waiting.map(({ endpoint }) => endpoint.id)));
  }

  private placesFor(endpoint: Subscriber, count: number): number {
    return this.claimer.mayGoAtOnce(endpoint) ? this.dispatcher.reserve(endpoint.id, count) : 0;
  }
}

function toDelivery(
  endpoint: Subscriber,
  event: OutboxEvent,
  leaseId: string,
): ClaimedDelivery & { eventId: string } {
  const { tenantId, url, secret, rateLimit, failingSince, lastSuccessAt } = endpoint;
  return {
    tenantId,
    id: newId(),
    endpointId: endpoint.id,
    eventId: event.id,
    leaseId,
    attemptCount: 0,
    maxAttempts: MAX_ATTEMPTS,
    eventType: event.type,
    eventCreatedAt: event.createdAt,
    data: event.data,
    sequence: event.sequence,
    url,
    secret,
    rateLimit,
    failingSince,
    lastSuccessAt,
  };
}
