import { Injectable, Logger } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { Batcher } from '../../common/batcher';
import { PendingDeliveriesRepository, RecordedAttempt } from './pending-deliveries.repository';

const MAX_BATCH = 200;
const RETRY_MS = 500;
/** As long as a lease lasts: after it the delivery is another's, and what was not written is attempted again. */
const GIVE_UP_AFTER_MS = 20_000;

/** Writes attempts down, those that end meanwhile with one statement. */
@Injectable()
export class AttemptRecorder {
  private readonly logger = new Logger(AttemptRecorder.name);
  private readonly outcomes = new Batcher<RecordedAttempt, RecordedAttempt>(MAX_BATCH, (attempts) =>
    this.write(attempts),
  );

  constructor(private readonly store: PendingDeliveriesRepository) {}

  /** Settles once the attempt is committed. */
  record(attempt: RecordedAttempt): Promise<RecordedAttempt> {
    return this.outcomes.add(attempt);
  }

  /** Tries until the leases run out: an outcome that is lost costs the receiver a duplicate. */
  private async write(attempts: RecordedAttempt[]): Promise<RecordedAttempt[]> {
    const giveUpAt = Date.now() + GIVE_UP_AFTER_MS;
    for (;;) {
      try {
        await this.store.record(attempts);
        return attempts;
      } catch (error) {
        if (Date.now() > giveUpAt) throw error;
        this.logger.warn({ err: error as Error, attempts: attempts.length }, 'attempts not written yet');
        await sleep(RETRY_MS);
      }
    }
  }
}
