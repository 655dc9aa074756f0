import { BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import { isFaultOfData } from '../database/database-errors';
import { newId } from '../common/ids';
import { Config } from '../config/config';
import { Database } from '../database/database';
import { DatabaseClock } from '../database/database-clock';
import { Transaction } from '../database/transaction';
import { Metrics } from '../metrics/metrics';
import { EventQueueRepository, QueuedEvent } from './event-queue.repository';
import { OutboxConsumer } from './outbox.consumer';
import { OutboxSignal } from './outbox-signal';
import { ParkedEventsRepository } from './parked-events.repository';

/**
 * Number of lanes: loops of this process that run concurrently, each one turn (one transaction) after the
 * other.
 */
const LANES = 3;
/**
 * Time for which all earlier lanes must have been busy before the next lane starts a turn. Few busy lanes
 * mean large turns, and a turn that hangs holds up only its own lane.
 */
const NEXT_LANE_AFTER_MS = 10;
/** Number of workspaces that share one turn's transaction at most. */
const MAX_WORKSPACES = 50;
/** Number of events of one workspace that one turn relays at most. */
const MAX_EVENTS = 100;
const RETRY_MS = 500;
/** Longest wait of a workspace for its busy consumers. */
const PATIENCE_MS = 1_000;
/** Age from which an event is relayed even if its consumers are busy. */
const MAX_AGE_MS = 5_000;

/**
 * Takes events from the queue and gives them to the consumers; the workspaces take turns. The consumers' rows
 * and the change of the queue commit together. Several relays may run; the transaction of a killed one rolls
 * back, and another relay takes its events.
 */
@Injectable()
export class OutboxRelay implements BeforeApplicationShutdown {
  private readonly logger = new Logger(OutboxRelay.name);
  private readonly consumers: OutboxConsumer[] = [];
  /** Workspaces that may have events, the longest waiting first, each with the time from which it waits. */
  private readonly ready = new Map<string, number>();
  private readonly inTurn = new Set<string>();
  /**
   * Workspaces that are relayed even if consumers are busy: they have waited for PATIENCE_MS, or have an
   * event older than MAX_AGE_MS.
   */
  private readonly overdue = new Set<string>();
  /** Limits of events a turn, by workspace, that are below MAX_EVENTS because a recent turn has failed. */
  private readonly shrunkTo = new Map<string, number>();
  private readonly maxWorkspaces: number;
  private lanes: Promise<void>[] = [];
  /** Time at which each lane's turn began, in milliseconds since 1970; Infinity between turns. */
  private readonly turnsSince = Array.from({ length: LANES }, () => Infinity);
  private readonly sleeping = new Set<() => void>();
  private stopping = false;

  constructor(
    config: Config,
    private readonly database: Database,
    private readonly events: EventQueueRepository,
    private readonly parked: ParkedEventsRepository,
    private readonly signal: OutboxSignal,
    private readonly clock: DatabaseClock,
    private readonly metrics: Metrics,
  ) {
    this.maxWorkspaces = config.crossWorkspaceBatches ? MAX_WORKSPACES : 1;
  }

  register(consumer: OutboxConsumer): void {
    this.consumers.push(consumer);
  }

  findConsumer(name: string): OutboxConsumer | undefined {
    return this.consumers.find((consumer) => consumer.name === name);
  }

  start(): void {
    this.signal.onSignal((tenantId) => this.wake([tenantId]));
    this.lanes = Array.from({ length: LANES }, (_, lane) => this.runLane(lane));
  }

  wake(tenantIds: Iterable<string>): void {
    for (const tenantId of tenantIds) if (!this.ready.has(tenantId)) this.ready.set(tenantId, Date.now());
    this.lookAgain();
  }

  /**
   * Wakes the sleeping lanes if any workspace may have events. A consumer calls it when it becomes less busy.
   */
  lookAgain(): void {
    if (this.ready.size > 0) for (const wakeLane of this.sleeping) wakeLane();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stopping = true;
    for (const wakeLane of this.sleeping) wakeLane();
    await Promise.all(this.lanes);
  }

  private async runLane(lane: number): Promise<void> {
    while (!this.stopping) {
      const tenantIds = this.isNeeded(lane) ? this.pickWorkspaces() : [];
      if (tenantIds.length === 0) {
        await this.sleep(lane > 0 && this.ready.size > 0 ? NEXT_LANE_AFTER_MS : PATIENCE_MS / 4);
        continue;
      }
      this.turnsSince[lane] = Date.now();
      await this.takeTurn(tenantIds);
      this.turnsSince[lane] = Infinity;
    }
  }

  private isNeeded(lane: number): boolean {
    const latest = Math.max(...this.turnsSince.slice(0, lane));
    return lane === 0 || Date.now() - latest >= NEXT_LANE_AFTER_MS;
  }

  /**
   * Returns the workspaces of the next turn: those that wait longest, without those in another lane's turn
   * and those whose consumers are busy.
   */
  private pickWorkspaces(): string[] {
    const next: string[] = [];
    if (!this.clock.isTrusted) return next;
    for (const [tenantId, since] of this.ready) {
      if (this.inTurn.has(tenantId) || this.mustWait(tenantId, since)) continue;
      // After a failure a workspace has turns of its own.
      const isAlone = this.shrunkTo.has(tenantId);
      if (isAlone && next.length > 0) continue;
      next.push(tenantId);
      if (isAlone || next.length === this.maxWorkspaces) break;
    }
    return next;
  }

  private mustWait(tenantId: string, since: number): boolean {
    if (this.overdue.has(tenantId) || !this.consumers.some((one) => one.isBusy?.(tenantId))) return false;
    if (Date.now() - since < PATIENCE_MS) return true;
    this.overdue.add(tenantId);
    return false;
  }

  private async takeTurn(tenantIds: string[]): Promise<void> {
    for (const tenantId of tenantIds) {
      this.ready.delete(tenantId);
      this.inTurn.add(tenantId);
    }
    const limit = this.shrunkTo.get(tenantIds[0]!) ?? MAX_EVENTS;
    try {
      const unfinished = await this.relayOldest(tenantIds, limit);
      this.enlarge(tenantIds[0]!);
      this.wake(unfinished);
    } catch (error) {
      await this.handleFailure(tenantIds, limit, error as Error);
    } finally {
      for (const tenantId of tenantIds) this.inTurn.delete(tenantId);
      this.lookAgain();
    }
  }

  /**
   * Relays the oldest events of some workspaces in one transaction.
   * @param parkedFor consumers that do not get the events: these are parked for them
   * @returns the workspaces that may have more events
   */
  private relayOldest(tenantIds: string[], limit: number, parkedFor: OutboxConsumer[] = [], error?: Error) {
    return this.database.queueTransaction(async (tx) => {
      const taking = this.consumers.filter((consumer) => !parkedFor.includes(consumer));
      const turns = await all(taking.map((consumer) => consumer.prepare(tx, tenantIds)));
      const limitOf = (id: string) => {
        return Math.min(limit, ...turns.map((turn) => turn.limitOf(id, this.overdue.has(id))));
      };
      const limits = new Map(tenantIds.map((id) => [id, limitOf(id)]));
      const events = await this.events.claim(tx, limits, newId());
      const kept = await all(turns.map((turn) => turn.consume(events)));
      for (const { name } of parkedFor) this.park(tx, events, name, error!);
      const ended = events.filter(({ id }) => !kept.some((ids) => ids.has(id)));
      if (ended.length > 0) this.events.deletePipelined(tx, ended);
      tx.onCommit(() => this.metrics.outboxRelayed.inc(events.length));
      return this.listUnfinished(limits, events);
    });
  }

  /** Returns the workspaces that may have more events, because they reached their limit. */
  private listUnfinished(limits: Map<string, number>, events: QueuedEvent[]): string[] {
    const oldest = new Map<string, number>();
    const counts = new Map<string, number>();
    for (const { tenantId, queuedAt } of events) {
      oldest.set(tenantId, Math.min(oldest.get(tenantId) ?? Infinity, queuedAt.getTime()));
      counts.set(tenantId, (counts.get(tenantId) ?? 0) + 1);
    }
    return [...limits].flatMap(([tenantId, limit]) => {
      const isUnfinished = (counts.get(tenantId) ?? 0) === limit;
      if (!isUnfinished) this.overdue.delete(tenantId);
      else if (Date.now() - (oldest.get(tenantId) ?? Infinity) > MAX_AGE_MS) this.overdue.add(tenantId);
      return isUnfinished ? tenantId : [];
    });
  }

  private park(tx: Transaction, events: QueuedEvent[], consumer: string, error: Error): void {
    for (const event of events) {
      this.parked.insertPipelined(tx, event, consumer, error.message);
      tx.onCommit(() => {
        this.metrics.outboxParked.inc({ consumer });
        const { tenantId, id: eventId, type } = event;
        this.logger.error({ err: error, tenantId, eventId, type, consumer }, 'an event was parked');
      });
    }
  }

  private async handleFailure(tenantIds: string[], limit: number, error: Error): Promise<void> {
    const [tenantId] = tenantIds;
    const isOfData = isFaultOfData(error);
    if (isOfData && tenantIds.length === 1 && limit === 1) {
      await this.parkOldest(tenantId!, error).catch((again: Error) => this.backOff(tenantIds, again));
      return;
    }
    for (const id of tenantIds) this.shrunkTo.set(id, Math.max(1, Math.floor(limit / 2)));
    if (isOfData) this.wake(tenantIds);
    else this.backOff(tenantIds, error);
  }

  /**
   * Parks the oldest event for the one consumer that can't take it in, or for all if no single consumer is
   * the cause.
   */
  private async parkOldest(tenantId: string, error: Error): Promise<void> {
    for (const consumer of [...this.consumers.map((one) => [one]), this.consumers]) {
      try {
        await this.relayOldest([tenantId], 1, consumer, error);
        this.wake([tenantId]);
        return;
      } catch (again) {
        if (!isFaultOfData(again)) throw again;
      }
    }
    throw error;
  }

  private backOff(tenantIds: string[], error: Error): void {
    this.logger.error({ err: error, workspaces: tenantIds.length }, 'relaying failed; it will be retried');
    setTimeout(() => this.wake(tenantIds), RETRY_MS).unref();
  }

  private enlarge(tenantId: string): void {
    const limit = this.shrunkTo.get(tenantId);
    if (limit === undefined) return;
    if (limit * 2 < MAX_EVENTS) this.shrunkTo.set(tenantId, limit * 2);
    else this.shrunkTo.delete(tenantId);
  }

  private sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const wakeLane = () => {
        clearTimeout(timer);
        this.sleeping.delete(wakeLane);
        resolve();
      };
      const timer = setTimeout(wakeLane, ms);
      this.sleeping.add(wakeLane);
    });
  }
}

/** Waits for all promises, even after one has failed, because their statements share one connection. */
async function all<T>(promises: Promise<T>[]): Promise<T[]> {
  const errors: unknown[] = [];
  await Promise.all(promises.map((promise) => promise.catch((error: unknown) => errors.push(error))));
  // The first in time may have caused the others.
  if (errors.length > 0) throw errors[0];
  return Promise.all(promises);
}
