import { Injectable } from '@nestjs/common';
import { startByFromNow } from '../../queue/start-by';
import { groupByWorkspace } from '../../common/group-by';
import { Transaction } from '../../database/transaction';
import { QueuedEvent } from '../../outbox/event-queue.repository';
import { Target } from '../../queue/target';
import { Subscriber } from '../endpoints/webhook-endpoints.repository';
import { Delivery, HeldEvent, NOT_ATTEMPTED } from './delivery';
import { DeliveryClaimer } from './delivery-claimer';
import { deliveryIdOf } from './delivery-id';
import { DeliveryQueue } from './delivery-queue';
import { DeliveryWorker } from './delivery.worker';
import { PendingDeliveriesRepository, toPending } from './pending-deliveries.repository';
import { RecordedDeliveries } from './recorded-deliveries';

interface NewDelivery {
  endpoint: Subscriber;
  event: QueuedEvent;
  id: string;
}

/**
 * Makes the deliveries of events. Deliveries that find a free slot in this process start after the commit and
 * have no row: their events stay under the lease. All other deliveries become pending.
 */
@Injectable()
export class DeliveryFanOut {
  /**
   * Workspaces whose endpoints all had less than half of their slots free after the last turn, each with its
   * endpoints.
   */
  private readonly busy = new Map<string, Target[]>();

  constructor(
    private readonly pending: PendingDeliveriesRepository,
    private readonly recorded: RecordedDeliveries,
    private readonly claimer: DeliveryClaimer,
    private readonly worker: DeliveryWorker,
    private readonly queue: DeliveryQueue,
  ) {}

  /**
   * Reports whether no endpoint of the workspace has half of its slots free. The relay waits for that half,
   * so that a turn starts several deliveries.
   */
  isBusy(tenantId: string): boolean {
    const targets = this.busy.get(tenantId);
    if (!targets) return false;
    const isBusy = !targets.some((target) => this.worker.isHalfFree(target));
    if (!isBusy) this.busy.delete(tenantId);
    return isBusy;
  }

  /** Records after a turn whether the workspace is busy now. */
  noteBusy(tenantId: string, endpoints: Subscriber[]): void {
    const targets = this.filterStarting(endpoints).map(({ id }) => ({ tenantId, id }));
    const isBusy = targets.length > 0 && !targets.some((target) => this.worker.isHalfFree(target));
    if (isBusy) this.busy.set(tenantId, targets);
  }

  /**
   * Returns the free slots of the least busy endpoint; infinity if no endpoint can start without a claim, as
   * with a rate limit. The relay takes no more events than that, so few of them become rows.
   */
  countMostFreeSlots(endpoints: Subscriber[]): number {
    const free = this.filterStarting(endpoints).map(({ tenantId, id }) =>
      this.worker.countFreeSlots({ tenantId, id }),
    );
    return free.length > 0 ? Math.max(...free) : Infinity;
  }

  /**
   * Makes the deliveries of each endpoint's events.
   * @returns the ids of events that stay under their lease
   */
  async makeDeliveries(tx: Transaction, subscribed: Map<Subscriber, QueuedEvent[]>): Promise<Set<string>> {
    const recorded = await this.findRecorded(tx, subscribed);
    const held = new Map<string, HeldEvent>();
    const waiting: NewDelivery[] = [];
    const startBy = startByFromNow();
    for (const [endpoint, events] of subscribed) {
      const owed = events
        .map((event) => ({ endpoint, event, id: deliveryIdOf(event.id, endpoint.id) }))
        .filter(({ id }) => !recorded.has(id));
      // A parked event has no lease to start from.
      const slots = owed[0]?.event.leaseId ? this.countFreeSlots(endpoint) : 0;
      const starting = owed.slice(0, slots).map((delivery) => toDelivery(delivery, held, startBy));
      if (starting.length > 0) this.startOnCommit(tx, endpoint, starting);
      waiting.push(...owed.slice(slots));
    }
    if (waiting.length > 0) {
      const rows = waiting.map((one) => ({ ...toPending({ ...one, ...NOT_ATTEMPTED }), delayMs: 0 }));
      this.pending.insertPipelined(tx, rows);
    }
    const woken = waiting.map(({ endpoint }) => endpoint).filter(({ maySend }) => maySend);
    tx.onCommit(() => this.wake(woken));
    return new Set(held.keys());
  }

  /** Returns the endpoints whose deliveries may start without a claim. */
  private filterStarting(endpoints: Subscriber[]): Subscriber[] {
    return endpoints.filter((endpoint) => this.claimer.canStartNow(endpoint));
  }

  private countFreeSlots(endpoint: Subscriber): number {
    if (!this.claimer.canStartNow(endpoint)) return 0;
    return this.worker.countFreeSlots({ tenantId: endpoint.tenantId, id: endpoint.id });
  }

  /**
   * Returns the ids of deliveries that are recorded already. Only events that had a lease before can have
   * any.
   */
  private async findRecorded(
    tx: Transaction,
    subscribed: Map<Subscriber, QueuedEvent[]>,
  ): Promise<Set<string>> {
    const again = [...subscribed].flatMap(([{ tenantId, id }, events]) =>
      events
        .filter(({ wasLeased }) => wasLeased)
        .map((event) => ({ tenantId, id: deliveryIdOf(event.id, id) })),
    );
    const recorded = new Set<string>();
    for (const [tenantId, deliveries] of groupByWorkspace(again)) {
      const ids = deliveries.map(({ id }) => id);
      for (const id of await this.recorded.filterRecorded(tx, tenantId, ids)) recorded.add(id);
    }
    return recorded;
  }

  private startOnCommit(tx: Transaction, { tenantId, id }: Subscriber, deliveries: Delivery[]): void {
    const committed = tx.ended.then((end) => (end === 'committed' ? deliveries : []));
    this.worker.admit({ tenantId, id }, deliveries.length, committed);
  }

  private wake(endpoints: Subscriber[]): void {
    const targets = [...new Set(endpoints)].map(({ tenantId, id }) => ({ tenantId, id }));
    if (targets.length > 0) this.queue.wake(targets);
  }
}

function toDelivery(
  { endpoint, event, id }: NewDelivery,
  held: Map<string, HeldEvent>,
  startBy: number,
): Delivery {
  let ofEvent = held.get(event.id);
  if (!ofEvent) held.set(event.id, (ofEvent = { leaseId: event.leaseId!, unrecorded: 0 }));
  ofEvent.unrecorded += 1;
  return { id, event, endpoint, ...NOT_ATTEMPTED, held: { event: ofEvent }, startBy };
}
