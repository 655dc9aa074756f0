import { Injectable } from '@nestjs/common';
import { newId } from '../../common/ids';
import { Pipelined, Transaction } from '../../database/transaction';
import { OutboxEvent } from '../../outbox/outbox.relay';
import { Subscriber } from '../endpoints/webhook-endpoints.repository';
import { ClaimedDelivery } from './claimed-delivery';
import { DeliveryClaimer } from './delivery.claimer';
import { DeliveryWorker } from './delivery.worker';
import { DeliveryQueue } from './delivery.queue';
import { MAX_ATTEMPTS } from './retry-schedule';
import { NewDelivery, WebhookDeliveriesRepository } from './webhook-deliveries.repository';

/**
 * A transaction may last longer than a lease leaves time for an attempt. What it has claimed longer ago than this is
 * left to its lease's end.
 */
const START_WITHIN_MS = 5_000;

/** What one endpoint is owed by a batch: the first `claimed.length` of the rows under a lease of this process. */
interface Owed {
  endpoint: Subscriber;
  rows: NewDelivery[];
  claimed: ClaimedDelivery[];
}

/**
 * Owes events to endpoints. What this process has room for is claimed as it is made, and starts with the commit; an
 * endpoint with more to come, or more that waits already, is woken for its turn.
 */
@Injectable()
export class DeliveryFanOut {
  constructor(
    private readonly deliveries: WebhookDeliveriesRepository,
    private readonly claimer: DeliveryClaimer,
    private readonly dispatcher: DeliveryWorker,
    private readonly queue: DeliveryQueue,
  ) {}

  /** The rows go out with the transaction's next statement. */
  owe(tx: Transaction, wanted: Map<Subscriber, OutboxEvent[]>): void {
    const leaseId = newId();
    const owed = [...wanted].map(([endpoint, events]) => this.owedTo(endpoint, events, leaseId));
    const inserted = this.deliveries.insertManyPipelined(
      tx,
      owed.flatMap(({ rows }) => rows),
    );
    this.startOnCommit(tx, owed, inserted);
    const waiting = owed.filter(({ rows, claimed }) => claimed.length < rows.length);
    tx.onCommit(() => this.wake(waiting.map(({ endpoint }) => endpoint)));
  }

  private owedTo(endpoint: Subscriber, events: OutboxEvent[], leaseId: string): Owed {
    const places = this.claimer.mayGoAtOnce(endpoint)
      ? this.dispatcher.reserve(endpoint.id, events.length)
      : 0;
    const rows = events.map((event, n) => toRow(endpoint, event, n < places ? leaseId : null));
    const claimed = events
      .slice(0, places)
      .map((event, n) => toClaimed(endpoint, event, rows[n]!.id, leaseId));
    return { endpoint, rows, claimed };
  }

  /** Of what was owed already, as when an event is relayed again, no row was inserted: another has charge of it. */
  private startOnCommit(tx: Transaction, owed: Owed[], inserted: Pipelined<{ id: string }>): void {
    const startBy = Date.now() + START_WITHIN_MS;
    const mine = tx.ended.then(async (end) => {
      const isMine = end === 'committed' && Date.now() < startBy;
      return new Set(isMine ? (await inserted.rows).map(({ id }) => id) : []);
    });
    for (const { endpoint, claimed } of owed) {
      if (claimed.length === 0) continue;
      const started = mine.then((ids) => claimed.filter(({ id }) => ids.has(id)));
      this.dispatcher.fill(endpoint.id, claimed.length, started);
    }
  }

  /** What can't be signed here may well be by another process, with the key that this one lacks. */
  private wake(endpoints: Subscriber[]): void {
    const canSign = (endpoint: Subscriber) => this.claimer.canSign(endpoint);
    this.queue.wake(endpoints.filter(canSign).map(({ id }) => id));
    this.queue.share(endpoints.filter((endpoint) => !canSign(endpoint)).map(({ id }) => id));
  }
}

function toRow(endpoint: Subscriber, event: OutboxEvent, leaseId: string | null): NewDelivery {
  const { id: eventId, tenantId, type: eventType } = event;
  return { tenantId, id: newId(), endpointId: endpoint.id, eventId, eventType, leaseId };
}

function toClaimed(endpoint: Subscriber, event: OutboxEvent, id: string, leaseId: string): ClaimedDelivery {
  const { tenantId, url, secret, rateLimit, failingSince, lastSuccessAt } = endpoint;
  return {
    tenantId,
    id,
    endpointId: endpoint.id,
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
