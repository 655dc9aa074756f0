import { Injectable, Logger } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { Batcher } from '../../common/batcher';
import { PendingDeliveriesRepository, RecordedAttempt } from './pending-deliveries.repository';

const MAX_BATCH = 200;
const RETRY_MS = 500;
/** The time of a lease: after it, another worker claims the delivery and attempts it again. */
const STOP_AFTER_MS = 20_000;

/** Records attempts in batches. */
@Injectable()
export class AttemptRecorder {
  private readonly logger = new Logger(AttemptRecorder.name);
  private readonly batcher = new Batcher<RecordedAttempt, RecordedAttempt>(MAX_BATCH, (attempts) =>
    this.write(attempts),
  );

  constructor(private readonly deliveries: PendingDeliveriesRepository) {}

  /** Settles once the attempt is committed. */
  record(attempt: RecordedAttempt): Promise<RecordedAttempt> {
    return this.batcher.add(attempt);
  }

  /** Retries until the leases expire: a lost outcome makes the receiver get a duplicate. */
  private async write(attempts: RecordedAttempt[]): Promise<RecordedAttempt[]> {
    const stopAt = Date.now() + STOP_AFTER_MS;
    for (;;) {
      try {
        await this.deliveries.record(attempts);
        return attempts;
      } catch (error) {
        if (Date.now() > stopAt) throw error;
        this.logger.warn(
          { err: error as Error, attempts: attempts.length },
          'attempts not recorded yet; retrying',
        );
        await sleep(RETRY_MS);
      }
    }
  }
}
