import { Database } from '../../database/database';
import { WorkspaceServer } from '../../database/placement/placement';

/** Largest number of steps that a search makes in one run, so that a run takes a bounded time. */
const MAX_STEPS = 10;

/**
 * One step of a search: processes a bounded number of the rows of a database server that follow the position
 * `after`. Returns the `after` of the next step, or null after the last row.
 */
export type SearchStep<Position> = (after: Position, server: WorkspaceServer) => Promise<Position | null>;

/**
 * Searches the workspaces of each database server in bounded steps. A run makes up to `maxSteps` steps on
 * each server, and the next run continues where this one ended. After the last row, the search starts at
 * `first` again.
 */
export class SteppedSearch<Position> {
  private readonly walks: () => Promise<void[]>;
  private readonly positions = new Map<string, Position>();

  constructor(
    database: Database,
    private readonly first: Position,
    private readonly step: SearchStep<Position>,
    private readonly maxSteps = MAX_STEPS,
  ) {
    this.walks = database.placement.repeatOnServers((server) => this.walk(server));
  }

  async run(): Promise<void> {
    await this.walks();
  }

  private async walk(server: WorkspaceServer): Promise<void> {
    for (let n = 0; n < this.maxSteps; n++) {
      const next = await this.step(this.positions.get(server.name) ?? this.first, server);
      this.positions.set(server.name, next ?? this.first);
      if (next === null) return;
    }
  }
}

/** Milliseconds by which two runs overlap in due time, so that rows which commit late are found. */
const OVERLAP_MS = 2_000;

/** The first run finds rows that became due up to this many milliseconds before the process started. */
const BEFORE_START_MS = 60_000;

/**
 * One step of a search: processes a bounded number of a database server's rows that became due after `since`.
 * `until` is the due time that it has reached; `isLast` means that no more rows are due.
 */
export type ScheduleStep = (
  since: Date,
  server: WorkspaceServer,
) => Promise<{ until: Date; isLast: boolean }>;

/**
 * Finds due rows in bounded steps: each run finds the rows of each database server that became due since the
 * last run. A `SteppedSearch` must find the rows that were due long before the process started.
 */
export class ScheduleSearch {
  private readonly walks: () => Promise<void[]>;
  private readonly begin = new Date(Date.now() - BEFORE_START_MS);
  private readonly until = new Map<string, Date>();

  constructor(
    database: Database,
    private readonly step: ScheduleStep,
  ) {
    this.walks = database.placement.repeatOnServers((server) => this.walk(server));
  }

  async run(): Promise<void> {
    await this.walks();
  }

  private async walk(server: WorkspaceServer): Promise<void> {
    const last = this.until.get(server.name) ?? this.begin;
    let since = new Date(last.getTime() - OVERLAP_MS);
    for (let n = 0; n < MAX_STEPS; n++) {
      const { until, isLast } = await this.step(since, server);
      since = until;
      if (isLast) break;
    }
    this.until.set(server.name, since);
  }
}
