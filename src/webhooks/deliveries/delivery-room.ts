/** Places for deliveries under way: so many in all, and so many for each endpoint. */
export class DeliveryRoom {
  private total = 0;
  private readonly byEndpoint = new Map<string, number>();
  /** Endpoints whose own places were taken, and that may have more to start. */
  private readonly missedOwn = new Set<string>();
  /** The same for places in all, the longest waiting first. */
  private readonly missedAny = new Set<string>();

  constructor(
    private readonly max: number,
    private readonly maxPerEndpoint: number,
  ) {}

  /** How many more an endpoint may start now. */
  of(endpointId: string): number {
    return Math.min(this.maxPerEndpoint - (this.byEndpoint.get(endpointId) ?? 0), this.max - this.total);
  }

  take(endpointId: string, places: number): void {
    this.total += places;
    const taken = (this.byEndpoint.get(endpointId) ?? 0) + places;
    if (taken > 0) this.byEndpoint.set(endpointId, taken);
    else this.byEndpoint.delete(endpointId);
  }

  free(endpointId: string, places: number): void {
    this.take(endpointId, -places);
  }

  /** Remembers that an endpoint may have more to start than there was room for. */
  miss(endpointId: string): void {
    (this.total < this.max ? this.missedOwn : this.missedAny).add(endpointId);
  }

  /**
   * The endpoints that missed room and have it, now that one has freed some. It waits itself until half of its places
   * are free: then one claim fills them all, instead of a claim for each.
   */
  takeMissed(freedBy: string): string[] {
    const ready: string[] = [];
    if (this.of(freedBy) * 2 >= this.maxPerEndpoint && this.missedOwn.delete(freedBy)) ready.push(freedBy);
    const [longest] = this.missedAny;
    if (longest !== undefined && this.total < this.max && this.missedAny.delete(longest)) ready.push(longest);
    return ready;
  }
}
