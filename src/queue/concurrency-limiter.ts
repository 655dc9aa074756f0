/** Places for what is under way: so many in all, and so many for each target (an endpoint, a connection). */
export class ConcurrencyLimiter {
  private total = 0;
  private readonly byTarget = new Map<string, number>();
  /** Targets whose own places were taken, and that may have more to start. */
  private readonly missedOwn = new Set<string>();
  /** The same for places in all, the longest waiting first. */
  private readonly missedAny = new Set<string>();

  constructor(
    private readonly max: number,
    private readonly maxPerTarget: number,
  ) {}

  /** How many more a target may start now. */
  of(target: string): number {
    return Math.min(this.maxPerTarget - (this.byTarget.get(target) ?? 0), this.max - this.total);
  }

  take(target: string, places: number): void {
    this.total += places;
    const taken = (this.byTarget.get(target) ?? 0) + places;
    if (taken > 0) this.byTarget.set(target, taken);
    else this.byTarget.delete(target);
  }

  free(target: string, places: number): void {
    this.take(target, -places);
  }

  /** Remembers that a target may have more to start than there was room for. */
  miss(target: string): void {
    (this.total < this.max ? this.missedOwn : this.missedAny).add(target);
  }

  /** Whether a target waits to be called back. */
  hasMissed(target: string): boolean {
    return this.missedOwn.has(target) || this.missedAny.has(target);
  }

  /**
   * The targets that missed room and have it, now that one has freed some. It waits itself until half of its places
   * are free: then one claim fills them all, instead of a claim for each.
   */
  takeMissed(freedBy: string): string[] {
    const ready: string[] = [];
    if (this.of(freedBy) * 2 >= this.maxPerTarget && this.missedOwn.delete(freedBy)) ready.push(freedBy);
    const [longest] = this.missedAny;
    if (longest !== undefined && this.total < this.max && this.missedAny.delete(longest)) ready.push(longest);
    return ready;
  }
}
