import { Inject } from '@nestjs/common';
import { Memo } from '../common/memo';
import { START_WITHIN_MS } from './claims/running-claims';
import { SlotPool } from './slot-pool';
import { FairQueue, Target } from './targets';

/** Largest share of a target's slots that its background work, such as recovered deliveries, may use. */
const BACKGROUND_SHARE = 1 / 2;
/** Share of a target's slots that is kept free for its background work while such work waits. */
const BACKGROUND_FLOOR = 1 / 10;
/** Stored as the number of slots of a slow target. It may use one, from the pool for slow targets. */
const SLOW = 0;
/** Largest number of targets whose numbers of slots and pauses are stored. */
const MAX_KNOWN = 100_000;
/** Milliseconds for which it is remembered that a workspace started items beside others that wait. */
const CROWDING_MS = 1_000;
/** Largest number of waiting targets that are checked at once for free slots. */
const MAX_VISITS = 100;

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

/**
 * Returns the latest start for work that is claimed now. Call it before the claim commits, because
 * `RunningClaims` counts from a later commit.
 */
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

/** Numbers of slots of a process, and of each target. */
export interface StartLimits {
  /** Number of this process's slots for targets whose last item did not time out. */
  total: number;
  /** Number of slots that one target may use at first, for live and background work together. */
  perTarget: number;
  /** Number of slots that a target may use at most, after items that succeeded. `perTarget` if absent. */
  mostPerTarget?: number;
  /** Number of slots for all targets whose last item timed out, in addition to `total`. */
  slow: number;
  /** Whether a target counts as slow until its first item that does not time out. */
  startSlow?: boolean;
}

/** Result of an item, by which the number of its target's slots changes. */
export type ItemResult = 'succeeded' | 'failed' | 'timeout';

/** Numbers of slots that a target uses from each pool. `background` of them are for background work. */
interface Use {
  normal: number;
  slow: number;
  background: number;
}

const NONE: Readonly<Use> = { normal: 0, slow: 0, background: 0 };

/**
 * Decides how many items of a target may start in this process now. A slot is the permission to have one item
 * in flight. A target gets no slot while the database's clock is not trusted, while the target is paused, or
 * while older items of it wait for a claim.
 *
 * A target gets one more slot for each item that succeeds, and loses them with the first that fails. A target
 * whose last item timed out is slow: it may use one slot, from a pool that all slow targets share.
 */
export class StartCapacity {
  /** Slots of all targets that are not slow. */
  readonly pool: SlotPool;

  private readonly slowPool: SlotPool;
  private readonly mostPerTarget: number;
  /** Numbers of slots of targets that had a result, by target id; SLOW for a slow target. */
  private readonly known = new Memo<number>(MAX_KNOWN);
  /** Number of slots of a target that had no result; SLOW if it counts as slow until then. */
  private readonly limitAtFirst: number;
  private readonly uses = new Map<string, Use>();
  /** Time at which each target's pause ends, in milliseconds since 1970, by target id. */
  private readonly pausedUntil = new Memo<number>(MAX_KNOWN);
  /** Targets with items that wait for a claim. The workspaces take turns. */
  private readonly waiting = new FairQueue();
  /** Time (ms since 1970) at which a workspace last got slots while only other workspaces waited. */
  private bystanderAt = -Infinity;
  private readonly listeners: (() => void)[] = [];
  private isTelling = false;
  private isClosed = false;

  constructor(
    private readonly limits: StartLimits,
    private readonly clock: { readonly isTrusted: boolean },
  ) {
    this.pool = new SlotPool(limits.total, limits.perTarget);
    this.slowPool = new SlotPool(limits.slow, 1);
    this.mostPerTarget = limits.mostPerTarget ?? limits.perTarget;
    this.limitAtFirst = limits.startSlow ? SLOW : limits.perTarget;
  }

  /** Registers a callback that runs once for all slots that are released in one tick of the event loop. */
  onRelease(listener: () => void): void {
    this.listeners.push(listener);
  }

  /** Acquires up to `wanted` slots of the target. Returns their number: so many of its items may start. */
  acquire(target: Target, wanted = Infinity): number {
    const slots = Math.min(wanted, this.countStartable(target));
    if (slots === 0) return 0;
    const use = this.uses.get(target.id) ?? { ...NONE };
    use[this.isSlow(target.id) ? 'slow' : 'normal'] += slots;
    this.poolOf(target.id).add(target.tenantId, slots);
    if (target.isBackground) use.background += slots;
    this.uses.set(target.id, use);
    if (this.waiting.size > 0 && !this.waiting.hasWorkspace(target.tenantId)) this.bystanderAt = Date.now();
    return slots;
  }

  release(target: Target, slots: number): void {
    const use = this.uses.get(target.id);
    if (!use || slots === 0) return;
    // Slots that the target acquired before it became slow are released first.
    const normal = Math.min(slots, use.normal);
    this.pool.add(target.tenantId, -normal);
    this.slowPool.add(target.tenantId, normal - slots);
    use.normal -= normal;
    use.slow -= slots - normal;
    if (target.isBackground) use.background -= slots;
    if (use.normal + use.slow === 0) this.uses.delete(target.id);
    this.tellReleased();
  }

  /** Changes the number of a target's slots by the result of an item. */
  note(id: string, result: ItemResult): void {
    const { perTarget } = this.limits;
    const grown = Math.min(this.mostPerTarget, Math.max(perTarget, this.limitOf(id) + 1));
    this.known.set(id, { succeeded: grown, failed: perTarget, timeout: SLOW }[result]);
  }

  /** Stores that targets are not slow because other processes got answers. Keeps this process's results. */
  noteAnswering(targets: Pick<Target, 'id'>[]): void {
    for (const { id } of targets) this.known.get(id, () => this.limits.perTarget);
  }

  /** Lets no item of a target start for `delayMs`, for example because the target has reached its rate. */
  pause({ id }: Target, delayMs: number): void {
    this.pausedUntil.set(id, Date.now() + delayMs);
  }

  isPaused({ id }: Target): boolean {
    return !this.clock.isTrusted || (this.pausedUntil.find(id) ?? 0) > Date.now();
  }

  /** Stores that items of targets wait for a claim. Until it begins, `acquire` gives the targets nothing. */
  addWaiting(targets: Iterable<Target>): void {
    for (const target of targets) this.waiting.add(target);
  }

  isWaiting(target: Target): boolean {
    return this.waiting.has(target);
  }

  /** Removes and returns the next waiting target for which a claim may begin. */
  nextWaiting(): Target | undefined {
    for (let visits = Math.min(MAX_VISITS, this.waiting.size); visits > 0; visits--) {
      const target = this.waiting.next()!;
      // A paused target need not wait, because it is woken at the end of its pause.
      if (this.isPaused(target)) continue;
      if (this.hasRoom(target)) return target;
      this.waiting.add(target);
    }
    return undefined;
  }

  /** Returns how many items of the target may start now. */
  countStartable(target: Target): number {
    return this.mayStart(target) ? this.countFree(target) : 0;
  }

  /** Reports whether enough items of the target may start that a transaction for them is worth its cost. */
  isReady(target: Target): boolean {
    return this.mayStart(target) && this.hasRoom(target);
  }

  /**
   * Whether workspaces with waiting targets use at least half of the slots in use, while another workspace
   * started items in the last second.
   */
  get isCrowded(): boolean {
    if (Date.now() - this.bystanderAt > CROWDING_MS) return false;
    let used = 0;
    for (const tenantId of this.waiting.tenantIds()) used += this.pool.countUsed(tenantId);
    return used * 2 >= this.pool.used;
  }

  /** Lets no more items start. */
  close(): void {
    this.isClosed = true;
  }

  private mayStart(target: Target): boolean {
    return !this.isClosed && !this.isWaiting(target) && !this.isPaused(target);
  }

  private limitOf(id: string): number {
    return this.known.find(id) ?? this.limitAtFirst;
  }

  private isSlow(id: string): boolean {
    return this.limitOf(id) === SLOW;
  }

  private poolOf(id: string): SlotPool {
    return this.isSlow(id) ? this.slowPool : this.pool;
  }

  private countFree(target: Target): number {
    const shared = this.poolOf(target.id).freeFor(target.tenantId);
    return Math.max(0, Math.min(this.countFreeOwn(target), shared));
  }

  /** Returns how many slots the target's own limit leaves free. */
  private countFreeOwn(target: Target): number {
    const { normal, slow, background } = this.uses.get(target.id) ?? NONE;
    const used = normal + slow;
    const limit = this.limitOf(target.id);
    if (limit === SLOW) return 1 - used;
    if (target.isBackground) return Math.min(limit - used, partOf(limit, BACKGROUND_SHARE) - background);
    const floor = Math.min(partOf(limit, BACKGROUND_FLOOR), limit - 1);
    const isFloorKept = this.waiting.has({ ...target, isBackground: true });
    return limit - used - (isFloorKept ? Math.max(0, floor - background) : 0);
  }

  /**
   * Reports whether a slot is free. For live work, half of the target's own slots must be free, so that one
   * claim starts several items.
   */
  hasRoom(target: Target): boolean {
    if (this.countFree(target) === 0) return false;
    const { background } = this.uses.get(target.id) ?? NONE;
    return target.isBackground || this.countFreeOwn(target) * 2 >= this.limitOf(target.id) - background;
  }

  private tellReleased(): void {
    if (this.isTelling) return;
    this.isTelling = true;
    setImmediate(() => {
      this.isTelling = false;
      for (const listener of this.listeners) listener();
    });
  }
}

function partOf(slots: number, share: number): number {
  return Math.max(1, Math.floor(slots * share));
}
