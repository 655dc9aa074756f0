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
 * After a longer transaction, the lease leaves too little time for an attempt. Its expiry makes the delivery claimable.
 */
const START_WITHIN_MS = 5_000;

interface EndpointDeliveries {
  endpoint: Subscriber;
  rows: NewDelivery[];
  /** The first of the rows, under a lease of this process. */
  claimed: ClaimedDelivery[];
}

/**
 * Inserts the deliveries of events. Those that this process has slots for are inserted with a lease, and start after
 * the commit. The endpoints of all others are woken.
 */
@Injectable()
export class DeliveryFanOut {
  constructor(
    private readonly deliveries: WebhookDeliveriesRepository,
    private readonly claimer: DeliveryClaimer,
    private readonly worker: DeliveryWorker,
    private readonly queue: DeliveryQueue,
  ) {}

  insertPipelined(tx: Transaction, subscribed: Map<Subscriber, OutboxEvent[]>): void {
    const leaseId = newId();
    const batches = [...subscribed].map(([endpoint, events]) => this.toDeliveries(endpoint, events, leaseId));
    const inserted = this.deliveries.insertManyPipelined(
      tx,
      batches.flatMap(({ rows }) => rows),
    );
    this.startOnCommit(tx, batches, inserted);
    const waiting = batches.filter(({ rows, claimed }) => claimed.length < rows.length);
    tx.onCommit(() => this.wake(waiting.map(({ endpoint }) => endpoint)));
  }

  private toDeliveries(endpoint: Subscriber, events: OutboxEvent[], leaseId: string): EndpointDeliveries {
    const slots = this.claimer.canStartNow(endpoint)
      ? this.worker.reserveSlots(endpoint.id, events.length)
      : 0;
    const rows = events.map((event, n) => toRow(endpoint, event, n < slots ? leaseId : null));
    const claimed = events
      .slice(0, slots)
      .map((event, n) => toClaimed(endpoint, event, rows[n]!.id, leaseId));
    return { endpoint, rows, claimed };
  }

  /** Starts only inserted rows: a delivery may exist already, when its event is relayed again. */
  private startOnCommit(
    tx: Transaction,
    batches: EndpointDeliveries[],
    inserted: Pipelined<{ id: string }>,
  ): void {
    const startBy = Date.now() + START_WITHIN_MS;
    const started = tx.ended.then(async (end) => {
      const mayStart = end === 'committed' && Date.now() < startBy;
      return new Set(mayStart ? (await inserted.rows).map(({ id }) => id) : []);
    });
    for (const { endpoint, claimed } of batches) {
      if (claimed.length === 0) continue;
      const claiming = started.then((ids) => claimed.filter(({ id }) => ids.has(id)));
      this.worker.startReserved(endpoint.id, claimed.length, claiming);
    }
  }

  /** Another worker may have the key for a secret that this process can't decrypt. */
  private wake(endpoints: Subscriber[]): void {
    const canSign = (endpoint: Subscriber) => this.claimer.canSign(endpoint);
    this.queue.wake(endpoints.filter(canSign).map(({ id }) => id));
    this.queue.enqueue(endpoints.filter((endpoint) => !canSign(endpoint)).map(({ id }) => id));
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
