import { Target } from './targets';

/** Share of a target's slots that its background work may use while live work leaves them free. */
const BACKGROUND_SHARE = 1 / 2;
/** Share of a target's slots that live work leaves to background work that waits. */
const BACKGROUND_FLOOR = 1 / 10;

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
 * Shares the slots of this process among workspaces and targets. A workspace may use as many slots as are
 * left free: one alone gets half, two get a third each, and one that has nothing in flight always finds a
 * slot. A slow target has one slot, from a pool that slow targets share.
 */
export class Slots {
  private readonly normal: SlotPool;
  private readonly slow: SlotPool;
  private readonly uses = new Map<string, Use>();
  private readonly startSlow: boolean;
  /**
   * Ids of targets that are not as they started (`startSlow`): those that became slow, or those that no
   * longer are.
   */
  private readonly changed = new Set<string>();
  /** Targets with background work that waits for a slot. */
  private readonly backgroundWaiting = new Set<string>();

  constructor(private readonly limits: SlotLimits) {
    this.normal = new SlotPool(limits.total, limits.perTarget);
    this.slow = new SlotPool(limits.slow, 1);
    this.startSlow = limits.startSlow ?? false;
  }

  /** Number of slots for targets that are not slow. It may be changed at any time. */
  get total(): number {
    return this.normal.size;
  }

  set total(slots: number) {
    this.normal.size = slots;
  }

  /** Number of slots in use by targets that are not slow. */
  get used(): number {
    return this.normal.used;
  }

  /** Returns how many slots the target may take now. */
  countFree(target: Target): number {
    const shared = this.poolOf(target).freeFor(target.tenantId);
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
    pool.add(target.tenantId, slots);
    const use = this.uses.get(target.id) ?? { ...NONE };
    use[pool === this.slow ? 'slow' : 'normal'] += slots;
    if (target.isBackground) use.background += slots;
    this.uses.set(target.id, use);
  }

  release(target: Target, slots: number): void {
    const use = this.uses.get(target.id);
    if (!use || slots === 0) return;
    // Slots that were taken before the target became slow are released first.
    const normal = Math.min(slots, use.normal);
    this.normal.add(target.tenantId, -normal);
    this.slow.add(target.tenantId, normal - slots);
    use.normal -= normal;
    use.slow -= slots - normal;
    if (target.isBackground) use.background -= slots;
    if (use.normal + use.slow === 0) this.uses.delete(target.id);
  }

  /** Notes whether a target is slow. A target is slow from a timeout until its next answer. */
  setSlow(id: string, isSlow: boolean): void {
    if (isSlow === this.startSlow) this.changed.delete(id);
    else this.changed.add(id);
  }

  /** Notes whether background work of a target waits, so that live work leaves a share of the slots to it. */
  setBackgroundWaiting(id: string, isWaiting: boolean): void {
    if (isWaiting) this.backgroundWaiting.add(id);
    else this.backgroundWaiting.delete(id);
  }

  private poolOf({ id }: Target): SlotPool {
    return this.isSlow(id) ? this.slow : this.normal;
  }

  private isSlow(id: string): boolean {
    return this.changed.has(id) !== this.startSlow;
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

  /**
   * Returns how many more slots the workspace may take. It may use as many as it leaves free, and at least
   * one.
   */
  freeFor(tenantId: string): number {
    const own = this.usedBy.get(tenantId) ?? 0;
    const half = (size: number) => Math.ceil((size - this.used - own) / 2);
    return Math.max(own === 0 ? 1 : 0, half(this.size), Math.min(this.share - own, half(this.maxSize)));
  }

  add(tenantId: string, slots: number): void {
    if (slots === 0) return;
    this.used += slots;
    const own = (this.usedBy.get(tenantId) ?? 0) + slots;
    if (own > 0) this.usedBy.set(tenantId, own);
    else this.usedBy.delete(tenantId);
  }
}
