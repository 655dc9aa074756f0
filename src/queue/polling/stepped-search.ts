import { Place, PlacedWork } from '../../database/citus/places';

/**
 * A search that walks through each place in bounded steps: each run takes up to so many steps, and the next
 * run goes on from there. After the last step it starts from the first position again.
 */
export class SteppedSearch<Position> {
  private readonly walks = new PlacedWork<void>();
  /** Positions up to which places are searched, by their names. */
  private readonly positions = new Map<string, Position>();

  /**
   * Makes a search that starts at `first` in each place.
   * @param step handles what it finds in a place after a position, and returns where the next step begins;
   *   null after the last
   */
  constructor(
    private readonly first: Position,
    private readonly maxSteps: number,
    private readonly step: (after: Position, place: Place) => Promise<Position | null>,
  ) {}

  async run(places: Place[]): Promise<void> {
    await this.walks.run(places, (place) => this.walk(place));
  }

  private async walk(place: Place): Promise<void> {
    for (let n = 0; n < this.maxSteps; n++) {
      const next = await this.step(this.positions.get(place.name) ?? this.first, place);
      this.positions.set(place.name, next ?? this.first);
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
  private readonly walks = new PlacedWork<void>();
  private readonly begin = new Date(Date.now() - BEFORE_START_MS);
  /** Times up to which places are searched, by their names. */
  private readonly until = new Map<string, Date>();

  /**
   * Makes a search that starts a minute before now.
   * @param step handles what became due in a place after `since`, and returns up to when it looked, and
   *   whether it is done
   */
  constructor(
    private readonly maxSteps: number,
    private readonly step: (since: Date, place: Place) => Promise<{ until: Date; isLast: boolean }>,
  ) {}

  async run(places: Place[]): Promise<void> {
    await this.walks.run(places, (place) => this.walk(place));
  }

  private async walk(place: Place): Promise<void> {
    const last = this.until.get(place.name) ?? this.begin;
    let since = new Date(last.getTime() - OVERLAP_MS);
    for (let n = 0; n < this.maxSteps; n++) {
      const { until, isLast } = await this.step(since, place);
      since = until;
      if (isLast) break;
    }
    this.until.set(place.name, since);
  }
}
