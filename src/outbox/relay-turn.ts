import { Injectable, Logger } from '@nestjs/common';
import { newId } from '../common/ids';
import { Database } from '../database/database';
import { Transaction } from '../database/transaction';
import { Metrics } from '../metrics/metrics';
import { ClaimedEvent, EventQueueRepository } from './event-queue.repository';
import { HasSubscriber, OutboxConsumer, PreparedConsumer } from './outbox.consumer';
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
 * Relays the oldest events of some workspaces to the consumers in one transaction, so that the consumers'
 * rows and the change of the queue commit together.
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

  relayEvents(consumers: OutboxConsumer[], plan: TurnPlan, parking?: Parking): Promise<WorkspaceTurn[]> {
    return this.database.queueTransaction(async (tx) => {
      const active = consumers.filter((consumer) => !parking?.consumers.includes(consumer));
      const preparing = all(active.map((consumer) => consumer.prepareConsumer(tx, plan.tenantIds)));
      // With guessed limits, the claim is sent in one packet with the statements that prepare the consumers.
      const guessed = guessLimits(active, plan);
      const claimed = guessed && this.events.claim(tx, guessed, newId());
      // If both promises reject, `await preparing` throws first. This line prevents an unhandled rejection.
      claimed?.catch(() => undefined);
      const prepared = await preparing;
      const limitOf = (tenantId: string, isOverdue: boolean) =>
        Math.min(plan.limit, ...prepared.map((consumer) => consumer.limitOf(tenantId, isOverdue)));
      const limits = guessed ?? limitsOf(plan, limitOf);
      const events = await (claimed ?? this.events.claim(tx, limits, newId()));
      plan.onClaimed?.(events);
      if (parking?.eventId && events[0]?.id !== parking.eventId)
        throw new Error('Another event is the oldest now');
      const hasSubscriber = subscriberCheckOf(prepared);
      const kept = await all(prepared.map((consumer) => consumer.consume(events, hasSubscriber)));
      for (const { name } of parking?.consumers ?? []) this.park(tx, events, name, parking!.error);
      const ended = events.filter(({ id }) => !kept.some((ids) => ids.has(id)));
      if (ended.length > 0) this.events.deletePipelined(tx, ended);
      tx.onCommit(() => this.metrics.outboxRelayed.inc(events.length));
      return describe(limits, events, (tenantId) => limitOf(tenantId, true));
    });
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

function subscriberCheckOf(consumers: PreparedConsumer[]): HasSubscriber | null {
  const passing = consumers.filter(({ hasSubscriber }) => hasSubscriber);
  return passing.length === 0
    ? null
    : (tenantId, type) => passing.some((consumer) => consumer.hasSubscriber!(tenantId, type));
}

function limitsOf(
  { tenantIds, overdue }: TurnPlan,
  limitOf: (tenantId: string, isOverdue: boolean) => number,
): Map<string, number> {
  return new Map(tenantIds.map((tenantId) => [tenantId, limitOf(tenantId, overdue?.has(tenantId) ?? false)]));
}

function guessLimits(consumers: OutboxConsumer[], plan: TurnPlan): Map<string, number> | null {
  let isKnown = true;
  const guess = (tenantId: string, isOverdue: boolean) => {
    const limits = consumers.map(
      (one) => one.guessLimit?.(tenantId, isOverdue, plan.tenantIds.length) ?? null,
    );
    isKnown &&= !limits.includes(null);
    return Math.min(plan.limit, ...limits.map((limit) => limit ?? 0));
  };
  const limits = limitsOf(plan, guess);
  return isKnown ? limits : null;
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

/** Waits for all promises even if one fails, because their statements share one connection. */
async function all<T>(promises: Promise<T>[]): Promise<T[]> {
  const errors: unknown[] = [];
  await Promise.all(promises.map((promise) => promise.catch((error: unknown) => errors.push(error))));
  // The first error in time may have caused the others.
  if (errors.length > 0) throw errors[0];
  return Promise.all(promises);
}
