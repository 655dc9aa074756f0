import { Target } from './targets';

/** Share of a target's slots that its background work may use while live work leaves them free. */
const BACKGROUND_SHARE = 1 / 2;
/** Share of a target's slots that live work leaves to background work that waits. */
const BACKGROUND_FLOOR = 1 / 10;
/** Slots beyond a pool's size at most, for workspaces that have nothing in flight. */
const MAX_BEYOND = 256;
/** Number of targets of which it is remembered whether they are slow. The oldest are forgotten first. */
const MAX_KNOWN = 100_000;

export interface SlotLimits {
  /** Number of slots that this process has for targets that are not slow. */
  total: number;
  /** Number of slots that one target may use, for live and background work together. */
  perTarget: number;
  /** Number of slots for all slow targets together, in addition to `total`. */
  slow: number;
  /** Whether a target counts as slow until it answers for the first time. */
  startSlow?: boolean;
}

/** Pool of the targets that are not slow, or of the slow ones. */
export type PoolName = 'normal' | 'slow';

/**
 * Numbers of slots that one target uses: from the pool of normal targets and from that of slow ones;
 * `background` of both are for background work.
 */
interface Use {
  normal: number;
  slow: number;
  background: number;
}

const NONE: Use = { normal: 0, slow: 0, background: 0 };

/**
 * Shares the slots of this process among workspaces and targets. A workspace may use as many slots as it
 * leaves free: one alone gets half, two get a third each. A workspace that has nothing in flight finds a slot
 * even if all are in use, up to a cap. A slow target has one slot, from a pool that slow targets share.
 */
export class Slots {
  private readonly pools: Record<PoolName, SlotPool>;
  private readonly uses = new Map<string, Use>();
  private readonly startSlow: boolean;
  /** Whether targets are slow, by id, as far as it is known. */
  private readonly known = new Map<string, boolean>();
  /** Targets with background work that waits for a slot. */
  private readonly backgroundWaiting = new Set<string>();

  constructor(private readonly limits: SlotLimits) {
    this.pools = {
      normal: new SlotPool(limits.total, limits.perTarget),
      slow: new SlotPool(limits.slow, 1),
    };
    this.startSlow = limits.startSlow ?? false;
  }

  /** Number of slots for targets that are not slow. It may be changed at any time. */
  get total(): number {
    return this.pools.normal.size;
  }

  set total(slots: number) {
    this.pools.normal.size = slots;
  }

  /** Number of slots in use by targets that are not slow. */
  get used(): number {
    return this.pools.normal.used;
  }

  /** Returns the number of slots in use by a workspace's targets that are not slow. */
  countUsed(tenantId: string): number {
    return this.pools.normal.countUsed(tenantId);
  }

  /** Returns the pool that a target takes slots from. */
  poolOf({ id }: Target): PoolName {
    return this.isSlow(id) ? 'slow' : 'normal';
  }

  /** Reports whether a pool has no slot left for anyone. */
  isFull(pool: PoolName): boolean {
    return this.pools[pool].used >= this.pools[pool].cap;
  }

  /** Returns how many slots the target may take now. */
  countFree(target: Target): number {
    const shared = this.pools[this.poolOf(target)].freeFor(target.tenantId);
    return Math.max(0, Math.min(this.countFreeOwn(target), shared));
  }

  /**
   * Returns how many slots the target's own limit leaves free, ignoring the workspace's and the process's
   * limits.
   */
  countFreeOwn({ id, isBackground }: Target): number {
    const use = this.uses.get(id) ?? NONE;
    const used = use.normal + use.slow;
    if (this.isSlow(id)) return Math.max(0, 1 - used);
    const free = this.limits.perTarget - used;
    if (isBackground) return Math.min(free, this.share(BACKGROUND_SHARE) - use.background);
    return this.backgroundWaiting.has(id) ? free - Math.max(0, this.backgroundFloor - use.background) : free;
  }

  /**
   * Reports whether half of the slots that the target can count on are free, so that one claim fills several.
   */
  isHalfFree(target: Target): boolean {
    return this.countFreeOwn(target) * 2 >= Math.max(1, this.countsOn(target));
  }

  acquire(target: Target, slots: number): void {
    if (slots === 0) return;
    const pool = this.poolOf(target);
    this.pools[pool].add(target.tenantId, slots);
    const use = this.uses.get(target.id) ?? { ...NONE };
    use[pool] += slots;
    if (target.isBackground) use.background += slots;
    this.uses.set(target.id, use);
  }

  release(target: Target, slots: number): void {
    const use = this.uses.get(target.id);
    if (!use || slots === 0) return;
    // Slots that were taken before the target became slow are released first.
    const normal = Math.min(slots, use.normal);
    this.pools.normal.add(target.tenantId, -normal);
    this.pools.slow.add(target.tenantId, normal - slots);
    use.normal -= normal;
    use.slow -= slots - normal;
    if (target.isBackground) use.background -= slots;
    if (use.normal + use.slow === 0) this.uses.delete(target.id);
  }

  /** Notes whether a target is slow: from a timeout until an attempt that does not time out. */
  setSlow(id: string, isSlow: boolean): void {
    this.known.delete(id);
    this.known.set(id, isSlow);
    if (this.known.size > MAX_KNOWN) this.known.delete(this.known.keys().next().value!);
  }

  /** Notes that a target has answered lately, as other processes saw, unless this process knows better. */
  setAnswering(id: string): void {
    if (!this.known.has(id)) this.setSlow(id, false);
  }

  /** Notes whether background work of a target waits, so that live work leaves a share of the slots to it. */
  setBackgroundWaiting(id: string, isWaiting: boolean): void {
    if (isWaiting) this.backgroundWaiting.add(id);
    else this.backgroundWaiting.delete(id);
  }

  private isSlow(id: string): boolean {
    return this.known.get(id) ?? this.startSlow;
  }

  /**
   * Returns how many slots the target may use for its kind of work, live or background, beside the other
   * kind.
   */
  private countsOn({ id, isBackground }: Target): number {
    if (this.isSlow(id)) return 1;
    const use = this.uses.get(id) ?? NONE;
    if (!isBackground) return this.limits.perTarget - use.background;
    const left = this.limits.perTarget - (use.normal + use.slow - use.background);
    return Math.min(this.share(BACKGROUND_SHARE), Math.max(this.backgroundFloor, left));
  }

  /**
   * Number of a target's slots that live work leaves to background work. A target with one slot keeps it for
   * live work.
   */
  private get backgroundFloor(): number {
    return Math.min(this.share(BACKGROUND_FLOOR), this.limits.perTarget - 1);
  }

  private share(share: number): number {
    return Math.max(1, Math.floor(this.limits.perTarget * share));
  }
}

/** Returns how many slots of a pool of a size are in use at most, however many workspaces there are. */
export function cappedAt(size: number): number {
  return size + Math.min(size, MAX_BEYOND);
}

/** Pool of slots that workspaces share. */
class SlotPool {
  used = 0;
  private readonly usedBy = new Map<string, number>();
  private readonly maxSize: number;

  /**
   * Makes a pool of `size` slots.
   * @param share slots that a workspace may still use after the pool has shrunk, as far as the pool's first
   *   size allows
   */
  constructor(
    public size: number,
    private readonly share: number,
  ) {
    this.maxSize = size;
  }

  get cap(): number {
    return cappedAt(this.size);
  }

  /**
   * Returns how many more slots the workspace may take. It may use as many as it leaves free, and at least
   * one below the cap.
   */
  freeFor(tenantId: string): number {
    const own = this.countUsed(tenantId);
    const half = (size: number) => Math.ceil((size - this.used - own) / 2);
    const fair = Math.max(own === 0 ? 1 : 0, half(this.size), Math.min(this.share - own, half(this.maxSize)));
    return Math.min(fair, this.cap - this.used);
  }

  countUsed(tenantId: string): number {
    return this.usedBy.get(tenantId) ?? 0;
  }

  add(tenantId: string, slots: number): void {
    if (slots === 0) return;
    this.used += slots;
    const own = this.countUsed(tenantId) + slots;
    if (own > 0) this.usedBy.set(tenantId, own);
    else this.usedBy.delete(tenantId);
  }
}
