/**
 * A search in bounded steps, from a remembered place: a run does so many steps at most, and the next one goes on from
 * there. After the last step it begins anew.
 */
export class SteppedSearch<Place> {
  private place: Place;

  /** @param step handles what it finds after a place, and returns where the next step begins; null after the last */
  constructor(
    private readonly first: Place,
    private readonly maxSteps: number,
    private readonly step: (after: Place) => Promise<Place | null>,
  ) {
    this.place = first;
  }

  async run(): Promise<void> {
    for (let n = 0; n < this.maxSteps; n++) {
      const next = await this.step(this.place);
      this.place = next ?? this.first;
      if (next === null) return;
    }
  }
}

/** A row that was written late, just before the time that the last run looked at. */
const OVERLAP_MS = 2_000;

/** The same along a schedule: each run finds what has become due since the last one. */
export class ScheduleSearch {
  private until = new Date(0);

  /** @param step handles what became due after `since`, and returns up to when it looked, and whether it is done */
  constructor(
    private readonly maxSteps: number,
    private readonly step: (since: Date) => Promise<{ until: Date; isLast: boolean }>,
  ) {}

  async run(): Promise<void> {
    let since = new Date(this.until.getTime() - OVERLAP_MS);
    for (let n = 0; n < this.maxSteps; n++) {
      const { until, isLast } = await this.step(since);
      since = until;
      if (isLast) break;
    }
    this.until = since;
  }
}
