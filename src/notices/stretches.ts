import { Logger } from '@nestjs/common';

/** Time before the start of a worker from which it searches, because none may have run meanwhile. */
const LOOK_BACK_MS = 6 * 3_600_000;
/** Longest stretch of time that one pass over the workspaces searches. */
const LONGEST_MS = 3_600_000;
/** Number of searches of a stretch after which rows whose work fails are left out. */
const MAX_FAILURES = 10;

/** Stretch of time that a pass over the workspaces searches, in milliseconds. */
export interface Stretch {
  readonly since: number;
  readonly until: number;
}

interface SearchedStretch extends Stretch {
  /** Number of times that work on rows of the stretch has failed. */
  failures: number;
}

/**
 * Stretches of time that a worker searches on each database server, one after another. A stretch whose search
 * fails is searched again, so that no outage leaves a gap.
 */
export class Stretches {
  private readonly logger = new Logger(Stretches.name);
  private readonly current = new Map<string, SearchedStretch>();

  /** Begins the stretch after the last one that was searched to its end, up to `newest`. */
  begin(server: string, newest: number): Stretch {
    const { since, failures } = this.current.get(server) ?? { since: newest - LOOK_BACK_MS, failures: 0 };
    const until = Math.max(since, Math.min(newest, since + LONGEST_MS));
    this.current.set(server, { since, until, failures });
    return { since, until };
  }

  /** Returns the stretch that was begun last. */
  read(server: string): Stretch {
    return this.current.get(server)!;
  }

  /** Records that the stretch that was begun last has been searched to its end. */
  finish(server: string): void {
    const { until } = this.read(server);
    this.current.set(server, { since: until, until, failures: 0 });
  }

  /**
   * Works on found rows one after another. A failure holds up no other row.
   * @throws the first failure, so that the rows are searched again; above MAX_FAILURES it is logged instead
   */
  async workOn<Row>(server: string, rows: Row[], work: (row: Row) => Promise<unknown>): Promise<void> {
    const errors: Error[] = [];
    for (const row of rows) await work(row).catch((error: Error) => errors.push(error));
    if (errors.length === 0) return;
    const stretch = this.current.get(server)!;
    stretch.failures++;
    if (stretch.failures < MAX_FAILURES) throw errors[0]!;
    this.logger.error({ err: errors[0], count: errors.length }, 'rows are left out: their work fails');
  }
}
