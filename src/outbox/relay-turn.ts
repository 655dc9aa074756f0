import { Injectable, Logger } from '@nestjs/common';
import { newId } from '../common/ids';
import { Database } from '../database/database';
import { Transaction } from '../database/transaction';
import { Metrics } from '../metrics/metrics';
import { ClaimedEvent, EventQueueRepository, isLeaseLost, leaseOf } from './event-queue.repository';
import { ConsumeEvents, EventWork, OutboxConsumer } from './outbox.consumer';
import { ParkedEventsRepository } from './parked-events.repository';

export interface TurnPlan {
  tenantIds: string[];
  limit: number;
  /** Workspaces whose events consumers must accept even if they are busy. */
  overdue?: ReadonlySet<string>;
  onClaimed?(events: ClaimedEvent[]): void;
}

/** Consumers for which an event is parked because of an error. They do not receive the event. */
export interface Parking {
  consumers: OutboxConsumer[];
  /**
   * Id of the event to park. If it is not the workspace's oldest event any more, `relayEvents` throws. Null
   * if the transaction failed before it claimed an event: then the oldest event is parked, whichever it is.
   */
  eventId: string | null;
  error: Error;
}

export interface WorkspaceTurn {
  tenantId: string;
  /** Whether the number of relayed events reached the workspace's limit, so that more may be queued. */
  isUnfinished: boolean;
  /** Whether the number reached even the limit for overdue events, which does not depend on free slots. */
  isFull: boolean;
  /** Time at which the oldest relayed event was queued, in milliseconds since 1970; Infinity for none. */
  oldestAt: number;
}

/**
 * Relays the oldest events of some workspaces to the consumers. One packet prepares the consumers, and claims
 * the events under a lease. If a consumer has rows to insert, or no consumer keeps an event, a transaction
 * inserts the rows and changes the queue. Then the consumers start their work for the events.
 */
@Injectable()
export class RelayTurn {
  private readonly logger = new Logger(RelayTurn.name);

  constructor(
    private readonly database: Database,
    private readonly events: EventQueueRepository,
    private readonly parked: ParkedEventsRepository,
    private readonly metrics: Metrics,
  ) {}

  async relayEvents(
    consumers: OutboxConsumer[],
    plan: TurnPlan,
    parking?: Parking,
  ): Promise<WorkspaceTurn[]> {
    const active = consumers.filter((consumer) => !parking?.consumers.includes(consumer));
    const limitOf = (tenantId: string, isOverdue: boolean) =>
      Math.min(
        plan.limit,
        ...active.map((one) => limitOfOne(one, tenantId, isOverdue, plan.tenantIds.length)),
      );
    const limits = new Map(
      plan.tenantIds.map((tenantId) => [tenantId, limitOf(tenantId, plan.overdue?.has(tenantId) ?? false)]),
    );
    const handler = active.find(({ handleSql }) => handleSql);
    const [prepared, events] = await this.database.queuePacket((tx) => {
      const preparing = Promise.all(active.map((consumer) => consumer.prepareConsumer(tx, plan.tenantIds)));
      return Promise.all([preparing, this.events.claim(tx, limits, newId(), handler)]);
    });
    try {
      plan.onClaimed?.(events);
      if (parking?.eventId && events[0]?.id !== parking.eventId)
        throw new Error('Another event is the oldest now');
      await this.process(prepared, events, parking);
    } catch (error) {
      // Another worker has claimed the events after their leases ended.
      if (!isLeaseLost(error)) {
        await this.giveBack(events);
        throw error;
      }
    }
    this.metrics.outboxRelayed.inc(events.length);
    return describe(limits, events, (tenantId) => limitOf(tenantId, true));
  }

  private async process(
    prepared: ConsumeEvents[],
    events: ClaimedEvent[],
    parking: Parking | undefined,
  ): Promise<void> {
    const works: EventWork[] = [];
    let isCommitted = false;
    try {
      for (const consume of prepared) works.push(await consume(this.database, events));
      await this.write(works, events, parking);
      isCommitted = true;
    } finally {
      for (const work of works) work.end?.(isCommitted);
    }
  }

  /** Inserts the consumers' rows, and removes the events that no consumer keeps from the queue. */
  private async write(
    works: EventWork[],
    events: ClaimedEvent[],
    parking: Parking | undefined,
  ): Promise<void> {
    const isKept = ({ id }: ClaimedEvent) => works.some(({ kept }) => kept?.has(id));
    const ended = events.filter((event) => !isKept(event));
    if (ended.length === 0 && !parking && !works.some((work) => work.write !== undefined)) return;
    await this.database.queueTransaction(async (tx) => {
      this.events.settleAllPipelined(tx, ended.map(leaseOf), events.filter(isKept).map(leaseOf));
      for (const work of works) await work.write?.(tx);
      for (const { name } of parking?.consumers ?? []) this.park(tx, events, name, parking!.error);
    });
  }

  private async giveBack(events: ClaimedEvent[]): Promise<void> {
    if (events.length === 0) return;
    try {
      await this.database.queuePacket((tx) => this.events.giveBack(tx, events));
    } catch (error) {
      this.logger.warn({ err: error as Error }, 'events were not given back; their leases will end');
    }
  }

  private park(tx: Transaction, events: ClaimedEvent[], consumer: string, error: Error): void {
    for (const event of events) {
      this.parked.insertPipelined(tx, event, consumer, error.message);
      tx.onCommit(() => {
        this.metrics.outboxParked.inc({ consumer });
        const { tenantId, id: eventId, type } = event;
        this.logger.error({ err: error, tenantId, eventId, type, consumer }, 'an event was parked');
      });
    }
  }
}

function limitOfOne(consumer: OutboxConsumer, ...workspace: [string, boolean, number]): number {
  return consumer.limitOf?.(...workspace) ?? Infinity;
}

function describe(
  limits: Map<string, number>,
  events: ClaimedEvent[],
  mostOf: (tenantId: string) => number,
): WorkspaceTurn[] {
  const oldest = new Map<string, number>();
  const counts = new Map<string, number>();
  for (const { tenantId, queuedAt } of events) {
    oldest.set(tenantId, Math.min(oldest.get(tenantId) ?? Infinity, queuedAt.getTime()));
    counts.set(tenantId, (counts.get(tenantId) ?? 0) + 1);
  }
  return [...limits].map(([tenantId, limit]) => {
    const count = counts.get(tenantId) ?? 0;
    return {
      tenantId,
      // True also with a limit of 0, when the workspace waits for busy consumers.
      isUnfinished: count === limit,
      isFull: count === mostOf(tenantId),
      oldestAt: oldest.get(tenantId) ?? Infinity,
    };
  });
}
