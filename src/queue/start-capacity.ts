import { Inject } from '@nestjs/common';
import { PoolName, Slots, SlotLimits } from './slots';
import { Target, targetKeyOf, FairQueue } from './targets';

/**
 * Milliseconds after a claim within which its items must start. The deactivation of a target waits for
 * running claims, so that no item starts later than this after the deactivation.
 */
const START_WITHIN_MS = 1_000;
const POOLS: PoolName[] = ['normal', 'slow'];
/** Number of stored pauses below which ended pauses are not removed. */
const FEWEST_SWEPT = 1_000;
/** Milliseconds for which it is remembered that a workspace wanted more slots than were free. */
const CROWDING_MS = 1_000;
/** Largest number of waiting targets that are checked for a free slot in one tick of the event loop. */
const VISITS_PER_PASS = 100;

/** Milliseconds of a target's pause when its secret cannot be decrypted. An operator must restore the key. */
export const UNREADABLE_PAUSE_MS = 60_000;

/**
 * Latest time at which claimed work may start, by both clocks of this process. One clock is not enough,
 * because the monotonic clock stops while the machine sleeps, and the wall clock may be set back.
 */
export interface StartBy {
  monotonicMs: number;
  wallMs: number;
}

/** Returns the latest start for work that is claimed now. Call it before the claim commits. */
export function startByFromNow(): StartBy {
  return { monotonicMs: performance.now() + START_WITHIN_MS, wallMs: Date.now() + START_WITHIN_MS };
}

export function isTooLate({ monotonicMs, wallMs }: StartBy): boolean {
  return performance.now() > monotonicMs || Date.now() > wallMs;
}

export const InjectStartCapacity = (queue: string) => Inject(startCapacityOf(queue));

export function startCapacityOf(queue: string): string {
  return `start-capacity:${queue}`;
}

/**
 * Decides which targets may start items in this process now, and how many. A slot is the permission to have
 * one item in flight. A target may start no item while the database's clock is not trusted, while the target
 * is paused, or without a free slot.
 *
 * An item for which a slot is free may start without a claim (`countStartable`). Otherwise its target becomes
 * due, and a claim acquires slots for it. A target that uses all slots of its own limit waits until half of
 * them are free. If the pool that all workspaces share has no slot for a target, the target waits for its
 * turn. At its turn, a slot is reserved for it, and it becomes due again.
 */
export class StartCapacity {
  readonly slots: Slots;

  private readonly due = new FairQueue();
  private readonly waitingForOwn = new Map<string, Target>();
  /** Targets that wait for a slot of a pool that all workspaces share. The workspaces take turns. */
  private readonly waitingForShared: Record<PoolName, FairQueue> = {
    normal: new FairQueue(),
    slow: new FairQueue(),
  };
  /** Pools that were full when a slot was released, until it is decided which waiting target gets it. */
  private readonly contested = new Set<PoolName>();
  /** Keys of targets for which a slot is reserved, until their claim begins. */
  private readonly reserved = new Set<string>();
  /** Time at which each target's pause ends, in milliseconds since 1970, by target id. */
  private readonly pausedUntil = new Map<string, number>();
  /** Number of stored pauses at which ended pauses are removed, such as pauses of deleted targets. */
  private sweepAt = FEWEST_SWEPT;
  /** Workspaces that, when last checked, had no target with half of its slots free; each with its targets. */
  private readonly busy = new Map<string, Target[]>();
  /** Times (ms since 1970) at which workspaces last wanted more slots than were free, the latest last. */
  private readonly crowdingAt = new Map<string, number>();
  /**
   * Time in milliseconds since 1970 at which a workspace that found free slots last started items, while
   * other workspaces wanted more slots than were free.
   */
  private bystanderAt = -Infinity;
  private isPassPlanned = false;
  private isClosed = false;
  private wake: (target: Target) => void = () => {};
  private released: () => void = () => {};

  constructor(
    limits: SlotLimits,
    private readonly clock: { readonly isTrusted: boolean },
  ) {
    this.slots = new Slots(limits);
  }

  /** Registers the callback that gets each target that has waited for a slot and may claim now. */
  onFree(wake: (target: Target) => void): void {
    this.wake = wake;
  }

  /** Registers a callback that runs once for all slots that are released in one tick of the event loop. */
  onRelease(callback: () => void): void {
    this.released = callback;
  }

  close(): void {
    this.isClosed = true;
  }

  /** Lets no item of a target start for `delayMs`, for example because the target has reached its rate. */
  pause({ id }: Target, delayMs: number): void {
    this.pausedUntil.set(id, Date.now() + delayMs);
    if (this.pausedUntil.size >= this.sweepAt) this.removeEndedPauses();
  }

  /** Returns how many items a claim may start: 0 if the target is paused or other targets waited longer. */
  countClaimable(target: Target): number {
    return this.isPaused(target) || this.isBehind(target) ? 0 : this.slots.countFree(target);
  }

  /**
   * Acquires the slots of a claim before it begins, so that no concurrent claim of the target uses them.
   * @returns how many items the claim may start
   */
  acquireForClaim(target: Target): number {
    const reserved = this.reserved.delete(targetKeyOf(target)) ? 1 : 0;
    if (this.isPaused(target)) {
      this.release(target, reserved);
      return 0;
    }
    const free = this.countClaimable(target);
    this.slots.acquire(target, free);
    return reserved + free;
  }

  acquireAtOnce(target: Target, slots: number): void {
    this.slots.acquire(target, slots);
    if (this.isBystander(target.tenantId)) this.bystanderAt = Date.now();
  }

  /**
   * Whether workspaces that want more slots than are free use at least half of the slots in use, while
   * another workspace, which found free slots, started items in the last second.
   */
  get isCrowded(): boolean {
    if (Date.now() - this.bystanderAt > CROWDING_MS) return false;
    let used = 0;
    for (const tenantId of this.crowdingAt.keys()) used += this.slots.countUsed(tenantId);
    return used * 2 >= this.slots.used;
  }

  /** Returns how many items of a target may start without a claim: 0 if older ones wait for a claim. */
  countStartable(target: Target): number {
    if (this.isClosed || this.due.has(target) || this.isWaiting(target)) return 0;
    return this.countClaimable(target);
  }

  countMostStartable(targets: Target[]): number {
    return targets.length > 0 ? Math.max(...targets.map((target) => this.countStartable(target))) : Infinity;
  }

  /** Stores that targets are not slow because other processes got answers. Keeps this process's results. */
  noteAnswering(targets: Pick<Target, 'id'>[]): void {
    for (const { id } of targets) this.slots.setAnswering(id);
  }

  markIfBusy(tenantId: string, targets: Target[]): void {
    if (targets.length > 0 && !this.hasHalfFree(targets)) this.busy.set(tenantId, targets);
  }

  /**
   * Reports whether a workspace that was marked as busy still has no target with half of its slots free.
   * While it has none, its work should wait, so that one transaction starts several items.
   */
  isBusy(tenantId: string): boolean {
    const targets = this.busy.get(tenantId);
    if (!targets) return false;
    const isBusy = !this.hasHalfFree(targets);
    if (!isBusy) this.busy.delete(tenantId);
    return isBusy;
  }

  addDue(targets: Iterable<Target>): void {
    for (const target of targets) if (!this.isWaiting(target)) this.due.add(target);
  }

  nextDue(): Target | undefined {
    return this.due.next();
  }

  get hasDue(): boolean {
    return this.due.size > 0;
  }

  /** Reports whether the target waits for a slot. When it gets one, the callback of `onFree` is called. */
  isWaiting(target: Target): boolean {
    const key = targetKeyOf(target);
    if (this.reserved.has(key)) return false;
    const { normal, slow } = this.waitingForShared;
    return this.waitingForOwn.has(key) || normal.has(target) || slow.has(target);
  }

  isPaused({ id }: Target): boolean {
    if (!this.clock.isTrusted) return true;
    const until = this.pausedUntil.get(id);
    if (until === undefined) return false;
    if (Date.now() < until) return true;
    this.pausedUntil.delete(id);
    return false;
  }

  /** Makes a target wait: for half of its own slots if it uses all of them, or else for a shared slot. */
  wait(target: Target): void {
    if (this.slots.poolOf(target) === 'normal') this.noteCrowding(target.tenantId);
    if (target.isBackground) this.slots.setBackgroundWaiting(target.id, true);
    if (this.slots.countFreeOwn(target) > 0) this.waitingForShared[this.slots.poolOf(target)].add(target);
    else this.waitingForOwn.set(targetKeyOf(target), target);
  }

  release(target: Target, slots: number): void {
    if (slots === 0) return;
    for (const pool of POOLS) if (this.slots.isFull(pool)) this.contested.add(pool);
    this.slots.release(target, slots);
    if (this.waitingForOwn.size > 0)
      for (const isBackground of [false, true]) this.wakeIfHalfFree({ ...target, isBackground });
    this.planPass();
  }

  private noteCrowding(tenantId: string): void {
    this.crowdingAt.delete(tenantId);
    this.crowdingAt.set(tenantId, Date.now());
  }

  /** Reports whether the workspace found free slots in the last second while other workspaces did not. */
  private isBystander(tenantId: string): boolean {
    for (const [other, at] of this.crowdingAt) {
      if (Date.now() - at < CROWDING_MS) break;
      this.crowdingAt.delete(other);
    }
    return this.crowdingAt.size > 0 && !this.crowdingAt.has(tenantId);
  }

  /** Removes the pauses that have ended. The next removal is when the number of pauses has doubled. */
  private removeEndedPauses(): void {
    const now = Date.now();
    for (const [id, until] of this.pausedUntil) if (until <= now) this.pausedUntil.delete(id);
    this.sweepAt = Math.max(FEWEST_SWEPT, 2 * this.pausedUntil.size);
  }

  private hasHalfFree(targets: Target[]): boolean {
    return targets.some((target) => this.countStartable(target) > 0 && this.slots.isHalfFree(target));
  }

  private wakeIfHalfFree(target: Target): void {
    const waiting = this.waitingForOwn.get(targetKeyOf(target));
    if (!waiting || !this.slots.isHalfFree(waiting)) return;
    this.waitingForOwn.delete(targetKeyOf(target));
    this.wakeWaiting(waiting);
  }

  /** Plans one check of the waiting targets for all slots that are released in this event loop tick. */
  private planPass(): void {
    if (this.isPassPlanned) return;
    this.isPassPlanned = true;
    setImmediate(() => {
      this.isPassPlanned = false;
      for (const pool of POOLS) this.visitWaiting(pool);
      this.released();
    });
  }

  /** Reserves free slots for the longest waiting targets. Targets of workspaces at their limit remain. */
  private visitWaiting(pool: PoolName): void {
    this.contested.delete(pool);
    const waiting = this.waitingForShared[pool];
    let visits = Math.min(VISITS_PER_PASS, waiting.size);
    for (; visits > 0 && !this.slots.isFull(pool); visits--) {
      const target = waiting.next()!;
      if (this.slots.countFree(target) === 0) this.wait(target);
      else {
        // No other claim may acquire this slot before the target's claim begins.
        this.slots.acquire(target, 1);
        this.reserved.add(targetKeyOf(target));
        this.wakeWaiting(target);
      }
    }
  }

  /** Reports whether other targets have waited longer for the free slots of the target's pool. */
  private isBehind(target: Target): boolean {
    if (this.contested.size === 0) return false;
    const pool = this.slots.poolOf(target);
    return this.contested.has(pool) && this.waitingForShared[pool].size > 0;
  }

  private wakeWaiting(target: Target): void {
    if (target.isBackground) this.slots.setBackgroundWaiting(target.id, false);
    this.wake(target);
  }
}
