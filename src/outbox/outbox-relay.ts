import { BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { Database } from '../database/database';
import { DatabaseClock } from '../database/database-clock';
import { RedisSignals } from '../redis/redis-signals';
import { OutboxConsumer } from './outbox.consumer';
import { EVENT_APPENDED } from './outbox.service';
import { RelayFailures } from './relay-failures';
import { RelayTurn, WorkspaceTurn } from './relay-turn';

/** Number of lanes. A lane is a loop of the relay that makes one transaction after another. */
const LANES = 3;
/** Index of the lane (loop of the relay) for workspaces with a backlog; lane 0 is for other workspaces. */
const BACKLOG_LANE = 1;
/**
 * Milliseconds that the transaction of a lane (loop of the relay) must have lasted before another lane helps
 * it. So few lanes are busy and transactions are large, but a transaction that hangs blocks only its own
 * lane.
 */
const NEXT_LANE_AFTER_MS = 10;
/** Milliseconds after which a transaction counts as hanging. Then no other begins on its database server. */
const HANGS_AFTER_MS = 1_000;
const MAX_WORKSPACES = 50;
/** Largest number of events of one workspace in one transaction. */
const MAX_EVENTS = 100;
/** Largest number of events in one transaction. It bounds the memory and the size of the statements. */
const MAX_TURN_EVENTS = 500;
/** Longest time in milliseconds for which a workspace's events wait because a consumer is busy. */
const PATIENCE_MS = 1_000;
/** Milliseconds after which an idle lane (loop) checks whether a workspace has waited for PATIENCE_MS. */
const LOOK_EVERY_MS = 250;
/** Age in milliseconds from which a workspace's events are relayed even if a consumer is busy. */
const MAX_AGE_MS = 5_000;

interface Turn {
  tenantIds: string[];
  /** Start of the transaction, in milliseconds since 1970. */
  since: number;
}

const NO_TURN: Turn = { tenantIds: [], since: Infinity };

/**
 * Relays queued events to the consumers. A transaction may relay events of several workspaces. Several
 * workers may relay at once. If a worker is killed, its transaction rolls back, and another worker relays the
 * events.
 */
@Injectable()
export class OutboxRelay implements BeforeApplicationShutdown {
  private readonly consumers: OutboxConsumer[] = [];
  /** Workspaces that may have events, longest waiting first, with the start of the wait (ms since 1970). */
  private readonly ready = new Map<string, number>();
  private readonly inTurn = new Set<string>();
  /**
   * Workspaces with a backlog: they reached the limit of a transaction, or had an event older than a second.
   * They remain here until no event is left. They share no transaction with other workspaces, so that these
   * need not wait.
   */
  private readonly backlogged = new Set<string>();
  /**
   * Workspaces whose events are relayed even if consumers are busy, because they waited for PATIENCE_MS or an
   * event is older than MAX_AGE_MS. They remain here until no event is left.
   */
  private readonly overdue = new Set<string>();
  /** Largest numbers of events in one transaction, by workspace, where a failure has lowered the number. */
  private readonly shrunkTo = new Map<string, number>();
  private readonly maxWorkspaces: number;
  private lanes: Promise<void>[] = [];
  /**
   * Current transaction of each lane (loop of the relay). There are LANES more lanes for each database server
   * that may hang. Such a lane does the work of the lane LANES places before it while that lane's transaction
   * hangs.
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
      // This look-up loads the workspace's server, so that it is known when the events are relayed.
      this.database.placement.serverOf(tenantId);
    }
    this.lookAgain();
  }

  /** Wakes idle lanes (loops) if a workspace may have events. Consumers call it when they get less busy. */
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
        await this.sleep(lane);
        continue;
      }
      this.turns[lane] = { tenantIds, since: Date.now() };
      await this.takeTurn(tenantIds);
      this.turns[lane] = NO_TURN;
    }
  }

  private hasLasted(lane: number, ms: number): boolean {
    return Date.now() - this.turns[lane]!.since >= ms;
  }

  private listHangingServers(): Set<string> {
    const hanging = this.turns.filter((_, lane) => this.hasLasted(lane, HANGS_AFTER_MS));
    const names = hanging.flatMap(({ tenantIds }) =>
      tenantIds.map((id) => this.database.placement.serverOf(id)),
    );
    return new Set(names.filter((name) => name !== null));
  }

  /** Returns the longest waiting workspaces, all with or all without a backlog, for a lane's transaction. */
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

  private pickReady(areBacklogged: boolean): string[] {
    const next: string[] = [];
    const hangingServers = this.listHangingServers();
    for (const [tenantId, since] of this.ready) {
      if (this.backlogged.has(tenantId) !== areBacklogged) continue;
      if (this.inTurn.has(tenantId) || this.mustWait(tenantId, since)) continue;
      const server = hangingServers.size > 0 ? this.database.placement.serverOf(tenantId) : null;
      if (server !== null && hangingServers.has(server)) continue;
      // A workspace whose transaction failed shares no transaction with other workspaces.
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
    // A workspace with a lowered limit is the only one in the transaction.
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

  /** Lets a lane sleep until a call of `wake` or, if a workspace waits already, for the lane's pause. */
  private sleep(lane: number): Promise<void> {
    return new Promise((resolve) => {
      const wakeLane = () => {
        clearTimeout(timer);
        this.sleeping.delete(wakeLane);
        resolve();
      };
      const pauseMs = lane > 0 ? NEXT_LANE_AFTER_MS : LOOK_EVERY_MS;
      const timer = this.ready.size > 0 ? setTimeout(wakeLane, pauseMs) : undefined;
      this.sleeping.add(wakeLane);
    });
  }
}
