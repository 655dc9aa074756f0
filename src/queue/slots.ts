import { Target } from './target';

/** Of a target's slots, the share that its old work may use while live work leaves them free. */
const OLD_SHARE = 1 / 2;
/** And the share that live work leaves to waiting old work. */
const OLD_FLOOR = 1 / 10;

export interface SlotLimits {
  /** Of this process. */
  total: number;
  /** Of one target, live and old work together. */
  perTarget: number;
  /** Of all slow targets together, beside the total. */
  slow: number;
  /** Whether a target is slow until it answers for the first time. */
  startSlow?: boolean;
}

/** The slots of one target in use. */
interface Use {
  normal: number;
  slow: number;
  old: number;
}

const NONE: Use = { normal: 0, slow: 0, old: 0 };

/**
 * Slots for concurrent work. A workspace may use as many as are left free: so one alone gets half, two get a third each,
 * and one that has nothing in flight always finds a slot. A slow target has one slot, out of a pool of its own kind.
 */
export class Slots {
  private readonly normal: Pool;
  private readonly slow: Pool;
  private readonly uses = new Map<string, Use>();
  private readonly startSlow: boolean;
  /** Those that are not as at the start: slow, or no longer slow. */
  private readonly changed = new Set<string>();
  private readonly oldWaiting = new Set<string>();

  constructor(private readonly limits: SlotLimits) {
    this.normal = new Pool(limits.total, limits.perTarget);
    this.slow = new Pool(limits.slow, 1);
    this.startSlow = limits.startSlow ?? false;
  }

  /** Of all targets that are not slow. May be changed at any time. */
  get total(): number {
    return this.normal.size;
  }

  set total(slots: number) {
    this.normal.size = slots;
  }

  /** Of the total. */
  get used(): number {
    return this.normal.used;
  }

  /** How many slots the target may take now. */
  free(target: Target): number {
    const room = this.poolOf(target).room(target.tenantId);
    return Math.max(0, Math.min(this.freeOwn(target), room));
  }

  /** The same, of the target's own limit alone. */
  freeOwn({ id, old }: Target): number {
    const use = this.uses.get(id) ?? NONE;
    const used = use.normal + use.slow;
    if (this.isSlow(id)) return Math.max(0, 1 - used);
    const free = this.limits.perTarget - used;
    if (old) return Math.min(free, this.share(OLD_SHARE) - use.old);
    return this.oldWaiting.has(id) ? free - Math.max(0, this.oldFloor - use.old) : free;
  }

  /** Half of what the target may count on is free: then one claim fills several slots. */
  isHalfFree(target: Target): boolean {
    return this.freeOwn(target) * 2 >= Math.max(1, this.countsOn(target));
  }

  acquire(target: Target, slots: number): void {
    if (slots === 0) return;
    const pool = this.poolOf(target);
    pool.add(target.tenantId, slots);
    const use = this.uses.get(target.id) ?? { ...NONE };
    use[pool === this.slow ? 'slow' : 'normal'] += slots;
    if (target.old) use.old += slots;
    this.uses.set(target.id, use);
  }

  release(target: Target, slots: number): void {
    const use = this.uses.get(target.id);
    if (!use || slots === 0) return;
    // Those taken before the target became slow end first.
    const normal = Math.min(slots, use.normal);
    this.normal.add(target.tenantId, -normal);
    this.slow.add(target.tenantId, normal - slots);
    use.normal -= normal;
    use.slow -= slots - normal;
    if (target.old) use.old -= slots;
    if (use.normal + use.slow === 0) this.uses.delete(target.id);
  }

  /** A target that timed out is slow until it answers. */
  setSlow(id: string, isSlow: boolean): void {
    if (isSlow === this.startSlow) this.changed.delete(id);
    else this.changed.add(id);
  }

  setOldWaiting(id: string, isWaiting: boolean): void {
    if (isWaiting) this.oldWaiting.add(id);
    else this.oldWaiting.delete(id);
  }

  private poolOf({ id }: Target): Pool {
    return this.isSlow(id) ? this.slow : this.normal;
  }

  private isSlow(id: string): boolean {
    return this.changed.has(id) !== this.startSlow;
  }

  private countsOn({ id, old }: Target): number {
    if (this.isSlow(id)) return 1;
    const use = this.uses.get(id) ?? NONE;
    if (!old) return this.limits.perTarget - use.old;
    const left = this.limits.perTarget - (use.normal + use.slow - use.old);
    return Math.min(this.share(OLD_SHARE), Math.max(this.oldFloor, left));
  }

  /** The only slot of a target is for live work. */
  private get oldFloor(): number {
    return Math.min(this.share(OLD_FLOOR), this.limits.perTarget - 1);
  }

  private share(share: number): number {
    return Math.max(1, Math.floor(this.limits.perTarget * share));
  }
}

class Pool {
  used = 0;
  private readonly usedBy = new Map<string, number>();
  private readonly maxSize: number;

  /** @param share what a workspace keeps, as far as the pool's first size allows, when the pool has become smaller */
  constructor(
    public size: number,
    private readonly share: number,
  ) {
    this.maxSize = size;
  }

  /** So many that the workspace then uses as many slots as are left free; one if it uses none. */
  room(tenantId: string): number {
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
