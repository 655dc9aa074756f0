import { BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { Database } from '../database/database';
import { DatabaseClock } from '../database/database-clock';
import { RedisSignals } from '../redis/redis-signals';
import { OutboxConsumer } from './outbox.consumer';
import { EVENT_APPENDED } from './outbox.service';
import { RelayFailures } from './relay-failures';
import { RelayTurn, WorkspaceTurn } from './relay-turn';

/** Number of lanes. A lane makes one turn after another. A turn relays some events of some workspaces. */
const LANES = 3;
/** Index of the relay's lane for workspaces with a backlog; lane 0 is for other workspaces. */
const BACKLOG_LANE = 1;
/**
 * Milliseconds that the turn of a lane must have lasted before another lane helps it. So few lanes are busy
 * and turns are large, but a turn that hangs blocks only its own lane.
 */
const NEXT_LANE_AFTER_MS = 10;
/** Milliseconds after which a turn counts as hanging. Then no other turn begins on its database server. */
const HANGS_AFTER_MS = 1_000;
const MAX_WORKSPACES = 50;
/** Largest number of events of one workspace in one turn. */
const MAX_EVENTS = 100;
/** Largest number of events in one turn. It bounds the memory and the size of the statements. */
const MAX_TURN_EVENTS = 500;
/** Longest time in milliseconds for which a workspace's events wait because a consumer is busy. */
const PATIENCE_MS = 1_000;
/** Milliseconds after which the idle relay checks whether a workspace has waited for PATIENCE_MS. */
const LOOK_EVERY_MS = 250;
/** Age in milliseconds from which a workspace's events are relayed even if a consumer is busy. */
const MAX_AGE_MS = 5_000;

interface Turn {
  tenantIds: string[];
  /** Start of the turn, in milliseconds since 1970. */
  since: number;
}

const NO_TURN: Turn = { tenantIds: [], since: Infinity };

/**
 * Relays queued events to the consumers. A turn may relay events of several workspaces. Several workers may
 * relay at once. If a worker is killed, its leases of events end, and another worker relays the events.
 */
@Injectable()
export class OutboxRelay implements BeforeApplicationShutdown {
  private readonly consumers: OutboxConsumer[] = [];
  /** Workspaces that may have events, longest waiting first, with the start of the wait (ms since 1970). */
  private readonly ready = new Map<string, number>();
  private readonly inTurn = new Set<string>();
  /**
   * Workspaces with a backlog: they reached the limit of a turn, or had an event older than a second. They
   * remain here until no event is left. They share no turn with other workspaces, so that these need not
   * wait.
   */
  private readonly backlogged = new Set<string>();
  /**
   * Workspaces whose events are relayed even if consumers are busy, because they waited for PATIENCE_MS or an
   * event is older than MAX_AGE_MS. They remain here until no event is left.
   */
  private readonly overdue = new Set<string>();
  /** Largest numbers of events in one turn, by workspace, where a failure has lowered the number. */
  private readonly shrunkTo = new Map<string, number>();
  private readonly maxWorkspaces: number;
  /**
   * Current turn of each lane. There are LANES more lanes for each database server that may hang. Such a lane
   * does the work of the lane LANES places before it while that lane's turn hangs.
   */
  private readonly turns: Turn[];
  /** Turns that have begun and not ended. */
  private readonly running = new Set<Promise<void>>();
  private isLooking = false;
  private nextLook: NodeJS.Timeout | undefined;
  private isStarted = false;

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
    this.isStarted = true;
    this.lookAgain();
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

  /**
   * Begins turns if any workspace may have events, after all signals of this tick of the event loop. A
   * consumer calls it when it becomes less busy.
   */
  lookAgain(): void {
    if (this.ready.size === 0 || this.isLooking) return;
    this.isLooking = true;
    queueMicrotask(() => this.beginTurns());
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.isStarted = false;
    clearTimeout(this.nextLook);
    await Promise.all(this.running);
  }

  /** Begins a turn in each free lane that has workspaces. Workspaces that must wait are looked at again. */
  private beginTurns(): void {
    this.isLooking = false;
    clearTimeout(this.nextLook);
    if (!this.isStarted) return;
    for (const [lane, turn] of this.turns.entries()) {
      const tenantIds = turn === NO_TURN ? this.pickWorkspaces(lane) : [];
      if (tenantIds.length > 0) this.beginTurn(lane, tenantIds);
    }
    if (this.ready.size === 0) return;
    const isWorking = this.running.size > 0;
    this.nextLook = setTimeout(() => this.beginTurns(), isWorking ? NEXT_LANE_AFTER_MS : LOOK_EVERY_MS);
  }

  private beginTurn(lane: number, tenantIds: string[]): void {
    this.turns[lane] = { tenantIds, since: Date.now() };
    const running = this.takeTurn(tenantIds).finally(() => {
      this.turns[lane] = NO_TURN;
      this.running.delete(running);
      this.lookAgain();
    });
    this.running.add(running);
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

  /** Returns the longest waiting workspaces, all with or all without a backlog, for a lane's turn. */
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
      // A workspace whose turn failed shares no turn with other workspaces.
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
    // A workspace with a lowered limit is the only one in the turn.
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
}
