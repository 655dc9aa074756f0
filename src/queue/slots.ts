import { Target } from './targets';

/** Largest share of a target's slots that its background work, such as recovered deliveries, may use. */
const BACKGROUND_SHARE = 1 / 2;
/** Share of a target's slots that is kept free for its background work while such work waits. */
const BACKGROUND_FLOOR = 1 / 10;
/** Largest number of slots in use beyond a pool's size. Only workspaces without items in flight get them. */
const MAX_BEYOND = 256;
/** Largest number of targets whose numbers of slots are stored. The oldest are deleted first. */
const MAX_KNOWN = 100_000;
/** Stored as the number of slots of a slow target. It may use one, from the pool for slow targets. */
const SLOW = 0;

export interface SlotLimits {
  /** Number of this process's slots for targets whose last attempt did not time out. */
  total: number;
  /** Number of slots that one target may use at first, for live and background work together. */
  perTarget: number;
  /** Number of slots that a target may use at most, after items that succeeded. `perTarget` if absent. */
  mostPerTarget?: number;
  /** Number of slots for all targets whose last attempt timed out, in addition to `total`. */
  slow: number;
  /** Whether a target counts as slow until its first attempt that does not time out. */
  startSlow?: boolean;
}

export type PoolName = 'normal' | 'slow';

/** Result of an item, by which the number of its target's slots changes. */
export type ItemResult = 'succeeded' | 'failed' | 'timeout';

/** Numbers of slots that a target uses from each pool. `background` of them are for background work. */
interface Use {
  normal: number;
  slow: number;
  background: number;
}

const NONE: Use = { normal: 0, slow: 0, background: 0 };

/**
 * Divides the slots of this process among workspaces and their targets. A slot is the permission to have one
 * item in flight. A workspace may use at most as many slots as remain free, so that one workspace alone gets
 * half of them, and two get a third each. A workspace without an item in flight gets a slot even if all
 * `size` slots of the pool are in use, up to 256 more. A target gets one more slot for each item that
 * succeeds, and loses them with the first that fails. A target whose last item timed out is slow: it may use
 * one slot, from the pool for slow targets.
 */
export class Slots {
  private readonly pools: Record<PoolName, SlotPool>;
  private readonly uses = new Map<string, Use>();
  /** Number of slots of a target that has had no result yet; SLOW if it counts as slow until then. */
  private readonly atFirst: number;
  private readonly mostPerTarget: number;
  /** Numbers of slots of targets that had a result, by target id; SLOW for a slow target. */
  private readonly known = new Map<string, number>();
  private readonly backgroundWaiting = new Set<string>();

  constructor(private readonly limits: SlotLimits) {
    this.pools = {
      normal: new SlotPool(limits.total, limits.perTarget),
      slow: new SlotPool(limits.slow, 1),
    };
    this.atFirst = limits.startSlow ? SLOW : limits.perTarget;
    this.mostPerTarget = limits.mostPerTarget ?? limits.perTarget;
  }

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

  /** Returns the number of slots in use by those targets of a workspace that are not slow. */
  countUsed(tenantId: string): number {
    return this.pools.normal.countUsed(tenantId);
  }

  poolOf({ id }: Target): PoolName {
    return this.isSlow(id) ? 'slow' : 'normal';
  }

  /** Reports whether no slot of a pool is left, not even for a workspace without an item in flight. */
  isFull(pool: PoolName): boolean {
    return this.pools[pool].used >= this.pools[pool].cap;
  }

  countFree(target: Target): number {
    const shared = this.pools[this.poolOf(target)].freeFor(target.tenantId);
    return Math.max(0, Math.min(this.countFreeOwn(target), shared));
  }

  /** Returns how many slots the target's own limit leaves free, ignoring all other limits. */
  countFreeOwn({ id, isBackground }: Target): number {
    const use = this.uses.get(id) ?? NONE;
    const used = use.normal + use.slow;
    if (this.isSlow(id)) return Math.max(0, 1 - used);
    const most = this.limitOf(id);
    const free = most - used;
    if (isBackground) return Math.min(free, share(most, BACKGROUND_SHARE) - use.background);
    return this.backgroundWaiting.has(id) ? free - Math.max(0, floorOf(most) - use.background) : free;
  }

  /** Reports whether half of the target's own slots are free, so that one claim starts several items. */
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
    // Slots that the target acquired before it became slow are released first.
    const normal = Math.min(slots, use.normal);
    this.pools.normal.add(target.tenantId, -normal);
    this.pools.slow.add(target.tenantId, normal - slots);
    use.normal -= normal;
    use.slow -= slots - normal;
    if (target.isBackground) use.background -= slots;
    if (use.normal + use.slow === 0) this.uses.delete(target.id);
  }

  /** Changes the number of a target's slots by the result of an item. */
  note(id: string, result: ItemResult): void {
    const { perTarget } = this.limits;
    const grown = Math.min(this.mostPerTarget, Math.max(perTarget, this.limitOf(id) + 1));
    this.store(id, { succeeded: grown, failed: perTarget, timeout: SLOW }[result]);
  }

  /** Stores that a target is not slow because another process got an answer. Keeps this process's result. */
  setAnswering(id: string): void {
    if (!this.known.has(id)) this.store(id, this.limits.perTarget);
  }

  /** Stores whether background work of a target waits: if so, live work leaves some slots free for it. */
  setBackgroundWaiting(id: string, isWaiting: boolean): void {
    if (isWaiting) this.backgroundWaiting.add(id);
    else this.backgroundWaiting.delete(id);
  }

  private store(id: string, slots: number): void {
    this.known.delete(id);
    this.known.set(id, slots);
    if (this.known.size > MAX_KNOWN) this.known.delete(this.known.keys().next().value!);
  }

  private limitOf(id: string): number {
    return this.known.get(id) ?? this.atFirst;
  }

  private isSlow(id: string): boolean {
    return this.limitOf(id) === SLOW;
  }

  /** Returns how many slots this kind of the target's work (live or background) may use at most now. */
  private countsOn({ id, isBackground }: Target): number {
    if (this.isSlow(id)) return 1;
    const use = this.uses.get(id) ?? NONE;
    const most = this.limitOf(id);
    if (!isBackground) return most - use.background;
    const left = most - (use.normal + use.slow - use.background);
    return Math.min(share(most, BACKGROUND_SHARE), Math.max(floorOf(most), left));
  }
}

function share(slots: number, part: number): number {
  return Math.max(1, Math.floor(slots * part));
}

/** Returns how many of a target's slots live work leaves to background work: 0 if the target has only one. */
function floorOf(slots: number): number {
  return Math.min(share(slots, BACKGROUND_FLOOR), slots - 1);
}

/** Returns how many slots of a pool of this size may be in use at once, including those beyond its size. */
export function cappedAt(size: number): number {
  return size + Math.min(size, MAX_BEYOND);
}

class SlotPool {
  used = 0;
  private readonly usedBy = new Map<string, number>();
  private readonly maxSize: number;

  /**
   * @param share number of slots that each workspace may use even after `size` was lowered, if enough of the
   *   initial `size` are free
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
   * Returns how many more slots the workspace may acquire. It may use at most as many as remain free. If it
   * uses none, it gets at least one, unless the pool has reached its cap.
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
