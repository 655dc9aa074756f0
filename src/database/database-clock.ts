import { BeforeApplicationShutdown, Injectable, Logger, OnModuleInit } from '@nestjs/common';
import { Periodic } from '../common/periodic';
import { Database } from './database';

/**
 * Largest tolerated difference in milliseconds between this process's clock and the database's. Ids contain
 * the time of the process that makes them, so a larger difference would spoil the order of rows.
 */
const MAX_OFFSET_MS = 2_000;
const INTERVAL_MS = 10_000;
/** Number of reads of the database's clock in a measurement. The read with the shortest round trip counts. */
const SAMPLES = 3;

export interface ClockStates {
  clock: 'synchronized' | 'wrong';
  /** State of the clocks of the nodes of Citus; left out on one server. */
  nodeClocks?: 'synchronized' | 'wrong';
}

/**
 * Compares this process's clock with the database's, at the start and every 10 s. Between two comparisons, it
 * detects a jump of the process's clock at once, by the monotonic clock.
 */
@Injectable()
export class DatabaseClock implements OnModuleInit, BeforeApplicationShutdown {
  private readonly logger = new Logger(DatabaseClock.name);
  private readonly measurements = new Periodic(
    INTERVAL_MS,
    () => this.measureAll(),
    (error) => this.logger.warn({ err: error }, 'failed to compare the clocks'),
  );
  /** Database time, in ms since 1970, when `performance.now()` was 0; null before the first measurement. */
  private steadyZero: number | null = null;
  /** Largest possible error of `steadyZero` in milliseconds: half of the measurement's round trip. */
  private uncertainty = 0;
  private measuring: Promise<void> | null = null;
  private wasTrusted = true;

  constructor(private readonly database: Database) {}

  /** Measures once before the process serves requests. A failure is only logged. */
  async onModuleInit(): Promise<void> {
    await this.measure().catch((error: Error) =>
      this.logger.warn({ err: error }, 'failed to compare the clock with that of the database'),
    );
    this.measurements.start();
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.measurements.stop();
  }

  /** Milliseconds by which this process's clock is ahead of the database's; NaN before a measurement. */
  get offsetMs(): number {
    return this.steadyZero === null ? Number.NaN : Date.now() - performance.now() - this.steadyZero;
  }

  /**
   * Whether the clock is within 2 s of the database's, as far as the measurement shows. While this is false,
   * the process serves no requests and claims no work.
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
    // The measured difference may be wrong, as the monotonic clock stands still while the machine sleeps.
    if (!isTrusted) void this.measure().catch(() => undefined);
  }

  /** Measures the difference between the clocks. Concurrent calls wait for the same measurement. */
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
