/** Slots for concurrent work: a number in all, and a number for each target (an endpoint, a connection). */
export class ConcurrencyLimiter {
  private used = 0;
  private readonly usedByTarget = new Map<string, number>();
  /** Targets that used all slots of their own, and may have more to start. */
  private readonly waitingForOwn = new Set<string>();
  /** Targets that found no free slot in all, the longest waiting first. */
  private readonly waitingForAny = new Set<string>();

  constructor(
    private readonly maxSlots: number,
    private readonly maxSlotsPerTarget: number,
  ) {}

  freeSlots(target: string): number {
    return Math.min(this.maxSlotsPerTarget - (this.usedByTarget.get(target) ?? 0), this.maxSlots - this.used);
  }

  acquire(target: string, slots: number): void {
    this.used += slots;
    const used = (this.usedByTarget.get(target) ?? 0) + slots;
    if (used > 0) this.usedByTarget.set(target, used);
    else this.usedByTarget.delete(target);
  }

  release(target: string, slots: number): void {
    this.acquire(target, -slots);
  }

  /** Records that a target may have more to start than it has free slots. */
  addWaiting(target: string): void {
    (this.used < this.maxSlots ? this.waitingForOwn : this.waitingForAny).add(target);
  }

  isWaiting(target: string): boolean {
    return this.waitingForOwn.has(target) || this.waitingForAny.has(target);
  }

  /**
   * Removes and returns the waiting targets that can start now. The target that released a slot is not among them until
   * half of its slots are free: then one claim fills several.
   */
  takeReady(releasedBy: string): string[] {
    const ready: string[] = [];
    const isHalfFree = this.freeSlots(releasedBy) * 2 >= this.maxSlotsPerTarget;
    if (isHalfFree && this.waitingForOwn.delete(releasedBy)) ready.push(releasedBy);
    const [longest] = this.waitingForAny;
    if (longest !== undefined && this.used < this.maxSlots && this.waitingForAny.delete(longest)) {
      ready.push(longest);
    }
    return ready;
  }
}
