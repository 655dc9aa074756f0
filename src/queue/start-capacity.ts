import { Inject } from '@nestjs/common';
import { PoolName, Slots, SlotLimits } from './slots';
import { Target, targetKeyOf, FairQueue } from './targets';

/**
 * Time within which claimed work may start. No work starts later than this after its target was deactivated,
 * because a deactivation waits for the claim.
 */
const START_WITHIN_MS = 1_000;
const POOLS: PoolName[] = ['normal', 'slow'];
/** Number of pauses up to which none is removed before its target is looked at. */
const FEWEST_SWEPT = 1_000;
/** Time for which a workspace counts as crowding, or as a bystander, after it was last seen so. */
const CROWDING_MS = 1_000;
/** Waiting targets that one pass looks at. It bounds the time of a pass, however many targets wait. */
const VISITS_PER_PASS = 100;

/**
 * Time for which a target is paused whose secret can't be decrypted. It is paused again until an operator
 * restores the key.
 */
export const UNREADABLE_PAUSE_MS = 60_000;

/**
 * Latest start of claimed work, on both clocks of this process: the monotonic one stands still while the
 * machine sleeps, and the other one may be set back.
 */
export interface StartBy {
  monotonicMs: number;
  wallMs: number;
}

/** Returns until when work may start under a claim that is made now. Call it before the claim's commit. */
export function startByFromNow(): StartBy {
  return { monotonicMs: performance.now() + START_WITHIN_MS, wallMs: Date.now() + START_WITHIN_MS };
}

/** Reports whether claimed work may not start any more. */
export function isTooLate({ monotonicMs, wallMs }: StartBy): boolean {
  return performance.now() > monotonicMs || Date.now() > wallMs;
}

/** Injects the capacity of the work of a queue. */
export const InjectStartCapacity = (queue: string) => Inject(startCapacityOf(queue));

/** Returns the token of the capacity of a queue's work. */
export function startCapacityOf(queue: string): string {
  return `start-capacity:${queue}`;
}

/**
 * Says whose work may start in this process now, and how much of it. A target's work may not start while the
 * database's clock is not trusted, while the target is paused, or without a free slot.
 *
 * Work that has a slot may start without a claim (`countStartable`). Otherwise its target is due: a claim
 * acquires slots for it. A target that uses up its own slots waits until half of them are free. A target that
 * finds no slot in the shared pool waits for its turn: then a slot is reserved for it, and it is due again.
 */
export class StartCapacity {
  readonly slots: Slots;

  /** Targets with work that waits for a claim. */
  private readonly due = new FairQueue();
  /** Targets that use all slots of their own limit, and may have more to start. */
  private readonly waitingForOwn = new Map<string, Target>();
  /** Targets that found no slot left in the pool that workspaces share, those that wait longest first. */
  private readonly waitingForShared: Record<PoolName, FairQueue> = {
    normal: new FairQueue(),
    slow: new FairQueue(),
  };
  /** Pools that were full when slots were released, until the targets that wait have had their turn. */
  private readonly contested = new Set<PoolName>();
  /** Keys of targets for which a slot is acquired, because it was their turn, until their claim begins. */
  private readonly reserved = new Set<string>();
  /**
   * Ends of the pauses by target id, in milliseconds of this process's clock. Live and background work pause
   * together.
   */
  private readonly pausedUntil = new Map<string, number>();
  /** Number of pauses at which those that have ended are removed: no claim asks for a deleted target. */
  private sweepAt = FEWEST_SWEPT;
  /**
   * Workspaces whose targets all had less than half of their slots free at the last look, each with its
   * targets.
   */
  private readonly busy = new Map<string, Target[]>();
  /** Workspaces that lately had more work than slots, the latest last, each with the time in milliseconds. */
  private readonly crowdingAt = new Map<string, number>();
  /** Time at which a workspace last started work at once while others were crowding. */
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

  /** Registers a callback for a target that waited for a slot, when a slot is free. */
  onFree(wake: (target: Target) => void): void {
    this.wake = wake;
  }

  /** Registers a callback that runs once for all slots that are released in one tick of the event loop. */
  onRelease(callback: () => void): void {
    this.released = callback;
  }

  /** Ends all starts without a claim. */
  close(): void {
    this.isClosed = true;
  }

  /** Keeps a target's work from starting for a while, because a claim would only postpone it. */
  pause({ id }: Target, delayMs: number): void {
    this.pausedUntil.set(id, Date.now() + delayMs);
    if (this.pausedUntil.size >= this.sweepAt) this.removeEndedPauses();
  }

  /** Returns how many items of a target a claim may start: 0 while it is paused. */
  countClaimable(target: Target): number {
    return this.isPaused(target) || this.isBehind(target) ? 0 : this.slots.countFree(target);
  }

  /**
   * Acquires the slots of a claim before it begins, so that two concurrent claims for one target can't use
   * the same slots.
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

  /** Acquires slots of a target for items that start without a claim, at most `countStartable`. */
  acquireAtOnce(target: Target, slots: number): void {
    this.slots.acquire(target, slots);
    if (this.isBystander(target.tenantId)) this.bystanderAt = Date.now();
  }

  /**
   * Reports whether workspaces that want more slots than they get use most of them, while others, which
   * find slots at once, have started work.
   */
  get isCrowded(): boolean {
    if (Date.now() - this.bystanderAt > CROWDING_MS) return false;
    let used = 0;
    for (const tenantId of this.crowdingAt.keys()) used += this.slots.countUsed(tenantId);
    return used * 2 >= this.slots.used;
  }

  /** Returns how many items of a target may start without a claim: 0 while older items wait for one. */
  countStartable(target: Target): number {
    if (this.isClosed || this.due.has(target) || this.isWaiting(target)) return 0;
    return this.countClaimable(target);
  }

  /**
   * Returns how many items the target with the most room may start without a claim; infinity without a
   * target.
   */
  countMostStartable(targets: Target[]): number {
    return targets.length > 0 ? Math.max(...targets.map((target) => this.countStartable(target))) : Infinity;
  }

  /** Notes targets that have answered lately, as other processes saw, unless this process knows better. */
  noteAnswering(targets: Pick<Target, 'id'>[]): void {
    for (const { id } of targets) this.slots.setAnswering(id);
  }

  /** Marks a workspace as busy if none of its targets has half of its slots free. */
  markIfBusy(tenantId: string, targets: Target[]): void {
    if (targets.length > 0 && !this.hasHalfFree(targets)) this.busy.set(tenantId, targets);
  }

  /**
   * Reports whether a workspace is still as busy as it was when that was noted. Work that waits for the half
   * of the slots starts several items with one transaction.
   */
  isBusy(tenantId: string): boolean {
    const targets = this.busy.get(tenantId);
    if (!targets) return false;
    const isBusy = !this.hasHalfFree(targets);
    if (!isBusy) this.busy.delete(tenantId);
    return isBusy;
  }

  /** Notes that targets have work for a claim, unless they wait for a slot already. */
  addDue(targets: Iterable<Target>): void {
    for (const target of targets) if (!this.isWaiting(target)) this.due.add(target);
  }

  /** Removes and returns the next target for a claim. The workspaces take turns. */
  nextDue(): Target | undefined {
    return this.due.next();
  }

  get hasDue(): boolean {
    return this.due.size > 0;
  }

  /** Reports whether the target waits for a slot: when it is the target's turn, the target is woken. */
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

  /** Has a target without a free slot wait for one. */
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
    // Live and background work share the target's slots.
    if (this.waitingForOwn.size > 0)
      for (const isBackground of [false, true]) this.wakeIfHalfFree({ ...target, isBackground });
    this.planPass();
  }

  private noteCrowding(tenantId: string): void {
    this.crowdingAt.delete(tenantId);
    this.crowdingAt.set(tenantId, Date.now());
  }

  /** Reports whether others crowd, and the workspace does not. */
  private isBystander(tenantId: string): boolean {
    for (const [other, at] of this.crowdingAt) {
      if (Date.now() - at < CROWDING_MS) break;
      this.crowdingAt.delete(other);
    }
    return this.crowdingAt.size > 0 && !this.crowdingAt.has(tenantId);
  }

  /** Removes the pauses that have ended. The next sweep is when there are twice as many as are left. */
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

  /**
   * Plans one pass over the waiting targets, for all slots that are released in this tick of the event loop.
   */
  private planPass(): void {
    if (this.isPassPlanned) return;
    this.isPassPlanned = true;
    setImmediate(() => {
      this.isPassPlanned = false;
      for (const pool of POOLS) this.visitWaiting(pool);
      this.released();
    });
  }

  /** Gives free slots of a pool to the targets that wait longest. Targets of a busy workspace wait again. */
  private visitWaiting(pool: PoolName): void {
    this.contested.delete(pool);
    const waiting = this.waitingForShared[pool];
    let visits = Math.min(VISITS_PER_PASS, waiting.size);
    for (; visits > 0 && !this.slots.isFull(pool); visits--) {
      const target = waiting.next()!;
      if (this.slots.countFree(target) === 0) this.wait(target);
      else {
        // No other claim may take the slot before this one begins.
        this.slots.acquire(target, 1);
        this.reserved.add(targetKeyOf(target));
        this.wakeWaiting(target);
      }
    }
  }

  /** Reports whether other targets have waited longer for the slots that the target's pool has left. */
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
