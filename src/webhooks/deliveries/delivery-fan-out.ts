import { Injectable } from '@nestjs/common';
import { groupByWorkspace } from '../../common/group-by';
import { Reader } from '../../database/database';
import { Transaction } from '../../database/transaction';
import { ClaimedEvent } from '../../outbox/event-queue.repository';
import { EventWork } from '../../outbox/outbox.consumer';
import { InjectStartCapacity, StartBy, StartCapacity } from '../../queue/start-capacity';
import { WakeUps } from '../../queue/wake-ups';
import { Subscriber } from '../endpoints/subscribers.repository';
import { AttemptRecorder } from './attempt-recorder';
import { Delivery, DELIVERY_QUEUE, deliveryIdOf, NOT_ATTEMPTED, toPending } from './delivery';
import { DeliveryWorker } from './delivery.worker';
import { PendingDeliveriesRepository } from './pending-deliveries.repository';
import { DeliveryHistoryRepository } from './delivery-history.repository';

interface NewDelivery {
  endpoint: Subscriber;
  event: ClaimedEvent;
  id: string;
}

/**
 * Makes the deliveries of events. A delivery starts after the commit if this process has a free slot for it.
 * It has no row yet, and its event stays leased. Every other delivery gets a row in `pending_deliveries`.
 */
@Injectable()
export class DeliveryFanOut {
  constructor(
    private readonly pending: PendingDeliveriesRepository,
    private readonly history: DeliveryHistoryRepository,
    private readonly recorder: AttemptRecorder,
    private readonly worker: DeliveryWorker,
    @InjectStartCapacity(DELIVERY_QUEUE) private readonly capacity: StartCapacity,
    private readonly wakeUps: WakeUps,
  ) {}

  /**
   * Makes the deliveries, and acquires a slot for each that may start. Its event is kept in the queue.
   * @param startBy latest time at which a delivery may start
   */
  async makeDeliveries(
    reader: Reader,
    subscribed: Map<Subscriber, ClaimedEvent[]>,
    startBy: StartBy,
  ): Promise<EventWork> {
    const recorded = await this.findRecorded(reader, subscribed);
    let end!: (isCommitted: boolean) => void;
    const ended = new Promise<boolean>((resolve) => (end = resolve));
    const starting: Delivery[] = [];
    const waiting: NewDelivery[] = [];
    for (const [endpoint, events] of subscribed) {
      const owed = events
        .map((event) => ({ endpoint, event, id: deliveryIdOf(event.id, endpoint.id) }))
        .filter(({ id }) => !recorded.has(id));
      // A first attempt starts under the lease of its event. A parked event has no lease, so it must wait.
      const canStart = endpoint.startsAtOnce && owed[0]?.event.leaseId;
      const slots = canStart ? this.capacity.acquire(endpoint, owed.length) : 0;
      const deliveries = owed.slice(0, slots).map((one) => toDelivery(one, startBy));
      const { tenantId, id } = endpoint;
      if (deliveries.length > 0)
        this.worker.runner.start(
          { tenantId, id },
          deliveries.length,
          ended.then((isCommitted) => (isCommitted ? deliveries : [])),
        );
      starting.push(...deliveries);
      waiting.push(...owed.slice(slots));
    }
    return {
      kept: new Set(starting.map(({ event }) => event.id)),
      write: waiting.length > 0 ? (tx) => this.insertPending(tx, waiting) : undefined,
      end: (isCommitted) => {
        if (isCommitted) this.recorder.expectAttempts(starting);
        end(isCommitted);
      },
    };
  }

  /** Returns the ids of deliveries that have a row. Only an event that was leased before can have them. */
  private async findRecorded(
    reader: Reader,
    subscribed: Map<Subscriber, ClaimedEvent[]>,
  ): Promise<Set<string>> {
    const again = [...subscribed].flatMap(([{ tenantId, id }, events]) =>
      events
        .filter(({ wasLeased }) => wasLeased)
        .map((event) => ({ tenantId, id: deliveryIdOf(event.id, id) })),
    );
    const recorded = new Set<string>();
    for (const [tenantId, deliveries] of groupByWorkspace(again)) {
      const ids = deliveries.map(({ id }) => id);
      for (const id of await this.history.filterRecorded(reader, tenantId, ids)) recorded.add(id);
    }
    return recorded;
  }

  private insertPending(tx: Transaction, waiting: NewDelivery[]): void {
    const rows = waiting.map((one) => ({ ...toPending({ ...one, ...NOT_ATTEMPTED }), delayMs: 0 }));
    this.pending.insertPipelined(tx, rows);
    // Wakes workers also for endpoints that are being changed, because they may be active after the change.
    const endpoints = new Set(waiting.map(({ endpoint }) => endpoint).filter(({ maySend }) => maySend));
    const targets = [...endpoints].map(({ tenantId, id }) => ({ tenantId, id }));
    if (targets.length > 0) tx.onCommit(() => this.wakeUps.wake(DELIVERY_QUEUE, targets));
  }
}

function toDelivery({ endpoint, event, id }: NewDelivery, startBy: StartBy): Delivery {
  return { id, event, endpoint, ...NOT_ATTEMPTED, lease: { id: event.leaseId!, on: 'event' }, startBy };
}
