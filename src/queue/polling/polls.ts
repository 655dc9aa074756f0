import { BeforeApplicationShutdown, Injectable, Logger, OnApplicationBootstrap } from '@nestjs/common';
import { Periodic } from '../../common/periodic';
import { Database } from '../../database/database';
import { DatabaseClock } from '../../database/database-clock';
import { ScheduleSearch, ScheduleStep, SearchStep, SteppedSearch } from './searches';

const INTERVAL_MS = 1_000;

type Poll = () => Promise<void>;

/**
 * Runs all registered polls once a second. A poll is a function that searches for due work of one kind. All
 * polls begin in the same tick of the event loop, so that their first reads share a transaction. A poll that
 * still runs from the second before is not begun, and delays no other poll.
 */
@Injectable()
export class Polls implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(Polls.name);
  private readonly polls = new Map<string, Poll>();
  private readonly running = new Map<string, Promise<void>>();
  private readonly timer = new Periodic(
    INTERVAL_MS,
    () => Promise.resolve(this.beginAll()),
    (error) => this.logger.error({ err: error }, 'no poll began'),
  );

  constructor(
    private readonly database: Database,
    private readonly clock: DatabaseClock,
  ) {}

  register(work: string, poll: Poll): void {
    this.polls.set(work, poll);
  }

  /** Registers a poll that searches all workspaces in steps, by a `SteppedSearch` from position `first`. */
  search<Position>(work: string, first: Position, step: SearchStep<Position>, maxSteps?: number): void {
    const search = new SteppedSearch(this.database, first, step, maxSteps);
    this.register(work, () => search.run());
  }

  /** Registers a poll for rows of all workspaces that became due since its last run (`ScheduleSearch`). */
  searchSchedule(work: string, step: ScheduleStep): void {
    const search = new ScheduleSearch(this.database, step);
    this.register(work, () => search.run());
  }

  /** Whether the process shuts down or its clock is wrong: then no poll may begin, and long work must end. */
  get areHeld(): boolean {
    return this.timer.isStopped || !this.clock.isTrusted;
  }

  onApplicationBootstrap(): void {
    this.timer.start();
  }

  /** Stops polling. Resolves when no poll is running any more. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.timer.stop();
    await Promise.all(this.running.values());
  }

  private beginAll(): void {
    if (this.areHeld) return;
    for (const [work, poll] of this.polls)
      if (!this.running.has(work)) this.running.set(work, this.runPoll(work, poll));
  }

  private async runPoll(work: string, poll: Poll): Promise<void> {
    try {
      await poll();
    } catch (error) {
      this.logger.error({ err: error as Error, work }, 'a poll failed; it will be repeated');
    } finally {
      this.running.delete(work);
    }
  }
}
