/** Largest number of slots in use beyond a pool's size. Only workspaces without items in flight get them. */
const MAX_BEYOND = 256;

/** Returns how many slots of a pool of this size may be in use at once, including those beyond its size. */
export function cappedAt(size: number): number {
  return size + Math.min(size, MAX_BEYOND);
}

/**
 * Divides slots among workspaces. A workspace may use at most as many slots as remain free, so that one
 * workspace alone gets half of them, and two get a third each. A workspace without an item in flight gets a
 * slot even if all `size` slots are in use, up to 256 more.
 */
export class SlotPool {
  used = 0;
  private readonly usedBy = new Map<string, number>();

  /**
   * @param share number of slots that each workspace may use even after `size` was lowered, if enough of the
   *   initial `size` are free
   */
  constructor(
    public size: number,
    private readonly share: number,
    readonly maxSize = size,
  ) {}

  /** Returns how many more slots the workspace may use. */
  freeFor(tenantId: string): number {
    const own = this.countUsed(tenantId);
    const half = (size: number) => Math.ceil((size - this.used - own) / 2);
    const fair = Math.max(own === 0 ? 1 : 0, half(this.size), Math.min(this.share - own, half(this.maxSize)));
    return Math.min(fair, cappedAt(this.size) - this.used);
  }

  countUsed(tenantId: string): number {
    return this.usedBy.get(tenantId) ?? 0;
  }

  /** Adds slots to those that the workspace uses. A negative number releases slots. */
  add(tenantId: string, slots: number): void {
    this.used += slots;
    const own = this.countUsed(tenantId) + slots;
    if (own > 0) this.usedBy.set(tenantId, own);
    else this.usedBy.delete(tenantId);
  }
}
