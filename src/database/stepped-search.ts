/**
 * A search that walks through places in bounded steps: each run takes up to so many steps, and the next run
 * goes on from there. After the last step it starts from the first place again.
 */
export class SteppedSearch<Place> {
  private place: Place;

  /**
   * Makes a search that starts at `first`.
   * @param step handles what it finds after a place, and returns where the next step begins; null after the
   *   last
   */
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

/** Milliseconds before the end of the last run that are searched again, for rows that were written late. */
const OVERLAP_MS = 2_000;

/** Milliseconds before a process's start from which its first run searches. */
const BEFORE_START_MS = 60_000;

/**
 * A search along a schedule in bounded steps: each run finds what has become due since the last run. What was
 * due long before the process started is left to a search of another order.
 */
export class ScheduleSearch {
  private until = new Date(Date.now() - BEFORE_START_MS);

  /**
   * Makes a search that starts a minute before now.
   * @param step handles what became due after `since`, and returns up to when it looked, and whether it is
   *   done
   */
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
