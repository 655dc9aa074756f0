import { BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import { Periodic } from '../../common/periodic';
import { Database } from '../../database/database';
import { AttemptOutcome } from '../sending/attempt-outcome';
import { addAttempt, noAttempts } from './attempt-counts';
import { AttemptRollup, AttemptRollupsRepository, ROLLUP_MS } from './attempt-rollups.repository';

const WRITE_EVERY_MS = 5_000;
const BATCH = 500;

/**
 * Counts attempts in memory, and adds the counts to the stored rollups every 5 s. If a worker is killed or a
 * statement fails, counts of some seconds are lost; that does no harm, because they only serve statistics.
 */
@Injectable()
export class AttemptRollups implements BeforeApplicationShutdown {
  private readonly logger = new Logger(AttemptRollups.name);
  private counted = new Map<string, AttemptRollup>();
  private readonly writes = new Periodic(
    WRITE_EVERY_MS,
    () => this.write(),
    (error) => this.logger.error({ err: error }, 'counts of attempts were not written'),
  );

  constructor(
    private readonly database: Database,
    private readonly rollups: AttemptRollupsRepository,
  ) {}

  async beforeApplicationShutdown(): Promise<void> {
    await this.writes.stop();
    await this.write();
  }

  /** Counts an attempt, and the delivery that it ended. `end` is null if no end is to be counted. */
  observe(
    { tenantId, id: endpointId }: { tenantId: string; id: string },
    outcome: AttemptOutcome,
    end: 'late' | 'exhausted' | null,
  ): void {
    const startsAt = new Date(Math.floor(outcome.at.getTime() / ROLLUP_MS) * ROLLUP_MS);
    const key = `${tenantId} ${endpointId} ${startsAt.toISOString()}`;
    let rollup = this.counted.get(key);
    if (!rollup) {
      rollup = { tenantId, endpointId, startsAt, ...noAttempts(), late: 0, exhausted: 0 };
      this.counted.set(key, rollup);
      this.writes.runLater();
    }
    addAttempt(rollup, outcome);
    if (end) rollup[end] += 1;
  }

  private async write(): Promise<void> {
    const counted = [...this.counted.values()];
    this.counted = new Map();
    // A failed statement is not repeated, because it may have been committed, and would be counted twice.
    await this.database.workInBatches(
      counted,
      BATCH,
      (batch) => this.rollups.addRollups(batch),
      (error, { length: endpoints }) =>
        this.logger.warn({ err: error, endpoints }, 'charts lack some attempts'),
    );
  }
}
