import { BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { Database } from '../database/database';
import { DatabaseClock } from '../database/database-clock';
import { RedisSignals } from '../redis/redis-signals';
import { OutboxConsumer } from './outbox.consumer';
import { EVENT_APPENDED } from './outbox.service';
import { RelayFailures } from './relay-failures';
import { RelayTurn, WorkspaceTurn } from './relay-turn';

/**
 * Number of lanes: loops of this process that run concurrently, each one turn (one transaction) after the
 * other.
 */
const LANES = 3;
/** Lane for workspaces with a backlog. The one before it is for all others, the one after it helps both. */
const BACKLOG_LANE = 1;
/**
 * Time for which all earlier lanes must have been busy before the next lane starts a turn. Few busy lanes
 * mean large turns, and a turn that hangs holds up only its own lane.
 */
const NEXT_LANE_AFTER_MS = 10;
/** Time from which on a turn hangs, and its server gets no further turn. */
const HANGS_AFTER_MS = 1_000;
/** Number of workspaces that share one turn's transaction at most. */
const MAX_WORKSPACES = 50;
/** Number of events of one workspace that one turn relays at most. */
const MAX_EVENTS = 100;
/** Number of events of all workspaces of one turn, which bounds its memory and its statements. */
const MAX_TURN_EVENTS = 500;
/** Longest wait of a workspace for its busy consumers. */
const PATIENCE_MS = 1_000;
/** Interval at which an idle lane looks whether a workspace's patience is over. */
const LOOK_EVERY_MS = 250;
/** Age from which an event is relayed even if its consumers are busy. */
const MAX_AGE_MS = 5_000;

interface Turn {
  tenantIds: string[];
  /** Time at which the turn began, in milliseconds since 1970. */
  since: number;
}

const NO_TURN: Turn = { tenantIds: [], since: Infinity };

/**
 * Gives each workspace with queued events its turns, in which the events go to the consumers. Several relays
 * may run; the transaction of a killed one rolls back, and another relay takes its events.
 */
@Injectable()
export class OutboxRelay implements BeforeApplicationShutdown {
  private readonly consumers: OutboxConsumer[] = [];
  /** Workspaces that may have events, the longest waiting first, each with the time from which it waits. */
  private readonly ready = new Map<string, number>();
  private readonly inTurn = new Set<string>();
  /**
   * Workspaces that have filled a turn or have waited long, until a turn leaves no events. They share no turn
   * with others, which would wait for theirs.
   */
  private readonly backlogged = new Set<string>();
  /**
   * Workspaces that are relayed even if consumers are busy, until a turn leaves no events: they have waited
   * for PATIENCE_MS, or have an event older than MAX_AGE_MS.
   */
  private readonly overdue = new Set<string>();
  /** Limits of events a turn, by workspace, that are below MAX_EVENTS because a recent turn has failed. */
  private readonly shrunkTo = new Map<string, number>();
  private readonly maxWorkspaces: number;
  private lanes: Promise<void>[] = [];
  /**
   * Turn of each lane. For each server that may hang alone, there is a further set of lanes: each of them
   * stands in for the same lane of the set before, while the turn of that one hangs.
   */
  private readonly turns: Turn[];
  private readonly sleeping = new Set<() => void>();
  private stopping = false;

  constructor(
    private readonly database: Database,
    private readonly turn: RelayTurn,
    private readonly failures: RelayFailures,
    private readonly signals: RedisSignals,
    private readonly clock: DatabaseClock,
  ) {
    this.maxWorkspaces = database.workspacesAtOnce(MAX_WORKSPACES);
    const lanes = LANES * (1 + database.placement.toleratedHangs);
    this.turns = Array.from({ length: lanes }, () => NO_TURN);
  }

  register(consumer: OutboxConsumer): void {
    this.consumers.push(consumer);
  }

  findConsumer(name: string): OutboxConsumer | undefined {
    return this.consumers.find((consumer) => consumer.name === name);
  }

  start(): void {
    this.signals.listen(EVENT_APPENDED, ({ tenantId }) => this.wake([tenantId]));
    this.lanes = this.turns.map((_, lane) => this.runLane(lane));
  }

  wake(tenantIds: Iterable<string>): void {
    for (const tenantId of tenantIds) {
      if (this.ready.has(tenantId)) continue;
      this.ready.set(tenantId, Date.now());
      // Its server is known then when its turn comes.
      this.database.placement.serverOf(tenantId);
    }
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
      const tenantIds = this.pickWorkspaces(lane);
      if (tenantIds.length === 0) {
        await this.sleep(lane > 0 && this.ready.size > 0 ? NEXT_LANE_AFTER_MS : LOOK_EVERY_MS);
        continue;
      }
      this.turns[lane] = { tenantIds, since: Date.now() };
      await this.takeTurn(tenantIds);
      this.turns[lane] = NO_TURN;
    }
  }

  /** Reports whether the turn of a lane has lasted so many milliseconds. */
  private hasLasted(lane: number, ms: number): boolean {
    return Date.now() - this.turns[lane]!.since >= ms;
  }

  /** Returns the names of the servers on which turns hang. */
  private listHangingServers(): Set<string> {
    const hanging = this.turns.filter((_, lane) => this.hasLasted(lane, HANGS_AFTER_MS));
    const names = hanging.flatMap(({ tenantIds }) =>
      tenantIds.map((id) => this.database.placement.serverOf(id)),
    );
    return new Set(names.filter((name) => name !== null));
  }

  /**
   * Returns the workspaces of a lane's next turn: those that wait longest, either without a backlog or with
   * one.
   */
  private pickWorkspaces(lane: number): string[] {
    if (!this.clock.isTrusted) return [];
    const first = lane - (lane % LANES);
    if (lane >= LANES && !this.hasLasted(lane - LANES, HANGS_AFTER_MS)) return [];
    if (lane === first) return this.pickReady(false);
    const helpsFirst = this.hasLasted(first, NEXT_LANE_AFTER_MS);
    if (lane === first + BACKLOG_LANE) {
      const backlogged = this.pickReady(true);
      return backlogged.length > 0 || !helpsFirst ? backlogged : this.pickReady(false);
    }
    if (!this.hasLasted(first + BACKLOG_LANE, NEXT_LANE_AFTER_MS)) return [];
    const others = helpsFirst ? this.pickReady(false) : [];
    return others.length > 0 ? others : this.pickReady(true);
  }

  /** Returns workspaces that are ready and may share a turn, with a backlog or without. */
  private pickReady(areBacklogged: boolean): string[] {
    const next: string[] = [];
    const hangingServers = this.listHangingServers();
    for (const [tenantId, since] of this.ready) {
      if (this.backlogged.has(tenantId) !== areBacklogged) continue;
      if (this.inTurn.has(tenantId) || this.mustWait(tenantId, since)) continue;
      const server = hangingServers.size > 0 ? this.database.placement.serverOf(tenantId) : null;
      if (server !== null && hangingServers.has(server)) continue;
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
    const share = Math.floor(MAX_TURN_EVENTS / tenantIds.length);
    // A workspace whose limit has shrunk is alone in its turn.
    const limit = Math.min(this.shrunkTo.get(tenantIds[0]!) ?? MAX_EVENTS, share);
    try {
      const turns = await this.turn.relayEvents(this.consumers, { tenantIds, limit, overdue: this.overdue });
      this.enlarge(tenantIds[0]!);
      for (const turn of turns) this.noteBacklog(turn);
      this.wake(turns.filter(({ isUnfinished }) => isUnfinished).map(({ tenantId }) => tenantId));
    } catch (error) {
      const next = await this.failures.handle(this.consumers, { tenantIds, limit }, error as Error);
      for (const tenantId of tenantIds) this.shrunkTo.set(tenantId, next.limit);
      if (next.delayMs === 0) this.wake(tenantIds);
      else setTimeout(() => this.wake(tenantIds), next.delayMs).unref();
    } finally {
      for (const tenantId of tenantIds) this.inTurn.delete(tenantId);
      this.lookAgain();
    }
  }

  /** Notes whether the workspace of a turn has a backlog, and whether its next events are overdue. */
  private noteBacklog({ tenantId, isUnfinished, isFull, oldestAt }: WorkspaceTurn): void {
    if (!isUnfinished) {
      this.backlogged.delete(tenantId);
      this.overdue.delete(tenantId);
      return;
    }
    const age = Date.now() - oldestAt;
    if (isFull || age > PATIENCE_MS) this.backlogged.add(tenantId);
    if (age > MAX_AGE_MS) this.overdue.add(tenantId);
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
