import { BeforeApplicationShutdown, Injectable, Logger, OnModuleInit } from '@nestjs/common';
import { Periodic } from '../common/periodic';
import { Database } from './database';

/**
 * Largest tolerated difference in milliseconds from the database's clock. Ids, leases and retries hold their
 * time: a process that is further off spoils the order of others.
 */
const MAX_OFFSET_MS = 2_000;
const INTERVAL_MS = 10_000;
/**
 * Number of reads of the database's clock in one measurement. The read with the shortest round trip counts.
 */
const SAMPLES = 3;

/** States of the clocks, as readiness tells them. */
export interface ClockStates {
  clock: 'synchronized' | 'wrong';
  /** The clocks of the servers that have workspaces, where these are on several. */
  nodeClocks?: 'synchronized' | 'wrong';
}

/**
 * Compares this process's clock with the database's, at the start and every ten seconds. Between two
 * measurements the process's own steady clock shows a jump at once.
 */
@Injectable()
export class DatabaseClock implements OnModuleInit, BeforeApplicationShutdown {
  private readonly logger = new Logger(DatabaseClock.name);
  private readonly measurements = new Periodic(
    INTERVAL_MS,
    () => this.measureAll(),
    (error) => this.logger.warn({ err: error }, 'failed to compare the clocks'),
  );
  /**
   * The time on the database's clock when the steady clock was at zero; null before the first measurement.
   */
  private steadyZero: number | null = null;
  /** Half of the measurement's round trip, in milliseconds: the largest error of the measurement. */
  private uncertainty = 0;
  private measuring: Promise<void> | null = null;
  private wasTrusted = true;

  constructor(private readonly database: Database) {}

  /**
   * Measures once before anything is served. A failure is no obstacle: while the database is down, nothing is
   * served.
   */
  async onModuleInit(): Promise<void> {
    await this.measure().catch((error: Error) =>
      this.logger.warn({ err: error }, 'failed to compare the clock with that of the database'),
    );
    this.measurements.start();
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.measurements.stop();
  }

  /** Milliseconds by which this process's clock is ahead of the database's; NaN while that is not known. */
  get offsetMs(): number {
    return this.steadyZero === null ? Number.NaN : Date.now() - performance.now() - this.steadyZero;
  }

  /**
   * False while the clock is certainly more than 2 seconds off: then the process serves nothing and claims
   * nothing.
   */
  get isTrusted(): boolean {
    const isTrusted = !(Math.abs(this.offsetMs) - this.uncertainty > MAX_OFFSET_MS);
    if (isTrusted !== this.wasTrusted) this.report(isTrusted);
    return isTrusted;
  }

  get states(): ClockStates {
    const nodeClocks = this.database.placement.clocks;
    return { clock: this.isTrusted ? 'synchronized' : 'wrong', ...(nodeClocks && { nodeClocks }) };
  }

  private async measureAll(): Promise<void> {
    await this.measure();
    await this.database.placement.measureClocks();
  }

  private report(isTrusted: boolean): void {
    this.wasTrusted = isTrusted;
    const details = { offsetMs: Math.round(this.offsetMs) };
    if (isTrusted) this.logger.log(details, "the clock agrees with the database's again");
    else this.logger.error(details, "the clock is more than 2 s from the database's: nothing is served");
    // The steady clock may have stopped since the measurement, as a suspended machine's does.
    if (!isTrusted) void this.measure().catch(() => undefined);
  }

  /** Measures the difference of the clocks. Calls at the same time share one measurement. */
  private measure(): Promise<void> {
    this.measuring ??= this.compare().finally(() => (this.measuring = null));
    return this.measuring;
  }

  private async compare(): Promise<void> {
    let shortest = Infinity;
    for (let n = 0; n < SAMPLES; n++) {
      const before = performance.now();
      const [row] = await this.database.query<{ ms: number }>(
        'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS ms',
      );
      const roundTrip = performance.now() - before;
      if (roundTrip >= shortest) continue;
      shortest = roundTrip;
      this.uncertainty = roundTrip / 2;
      this.steadyZero = row!.ms - before - roundTrip / 2;
    }
    void this.isTrusted;
  }
}
