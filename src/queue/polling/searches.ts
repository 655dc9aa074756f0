import { Database } from '../../database/database';
import { WorkspaceServer } from '../../database/placement/placement';

/** Number of steps of one run of a search, so that it takes a bounded time. */
const MAX_STEPS = 10;

/**
 * Handles the rows of a server after a position, and returns where the next step begins; null after the last.
 */
export type SearchStep<Position> = (after: Position, server: WorkspaceServer) => Promise<Position | null>;

/**
 * A search that walks through the workspaces of each server in bounded steps: each run takes up to so many
 * steps, and the next run goes on from there. After the last step it starts from the first position again.
 */
export class SteppedSearch<Position> {
  private readonly walks: () => Promise<void[]>;
  /** Positions up to which servers are searched, by their names. */
  private readonly positions = new Map<string, Position>();

  /** Makes a search that starts at `first` on each server. */
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

/** Milliseconds before the end of the last run that are searched again, for rows that were written late. */
const OVERLAP_MS = 2_000;

/** Milliseconds before a process's start from which its first run searches. */
const BEFORE_START_MS = 60_000;

/** Handles the rows of a server that became due after a time, and returns the time up to which it looked. */
export type ScheduleStep = (
  since: Date,
  server: WorkspaceServer,
) => Promise<{ until: Date; isLast: boolean }>;

/**
 * A search along a schedule in bounded steps: each run finds the rows that have become due since the last
 * run. Rows that were due long before the process started are left to a search of another order.
 */
export class ScheduleSearch {
  private readonly walks: () => Promise<void[]>;
  private readonly begin = new Date(Date.now() - BEFORE_START_MS);
  /** Times up to which servers are searched, by their names. */
  private readonly until = new Map<string, Date>();

  /** Makes a search that starts a minute before now. */
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
