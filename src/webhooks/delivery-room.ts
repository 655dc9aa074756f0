/** Places for deliveries under way: so many in all, and so many for each endpoint. */
export class DeliveryRoom {
  private total = 0;
  private readonly byEndpoint = new Map<string, number>();
  /** Endpoints that would have started more, the longest waiting first. */
  private readonly missed = new Set<string>();

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
    this.missed.add(endpointId);
  }

  /**
   * The endpoints that missed room and have it now, to be asked again. One waits until half of its places are free:
   * then one claim fills them all, instead of a claim for each.
   */
  takeMissed(): string[] {
    const ready: string[] = [];
    let left = this.max - this.total;
    for (const endpointId of this.missed) {
      if (left <= 0) break;
      const room = this.of(endpointId);
      if (room * 2 < this.maxPerEndpoint && room < left) continue;
      this.missed.delete(endpointId);
      ready.push(endpointId);
      left -= room;
    }
    return ready;
  }
}
