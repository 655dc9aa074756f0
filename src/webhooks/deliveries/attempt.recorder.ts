import { Injectable, Logger } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { DeliveryStore, RecordedAttempt } from './delivery.store';

const MAX_BATCH = 200;
const RETRY_MS = 500;
/** As long as a lease lasts: after it the delivery is another's, and what was not written is attempted again. */
const GIVE_UP_AFTER_MS = 20_000;

interface Waiting {
  attempt: RecordedAttempt;
  resolve: () => void;
  reject: (error: Error) => void;
}

/**
 * Writes attempts down in batches: while one batch is being written, the next one gathers. So a busy worker writes many
 * attempts with one statement, and a quiet one writes each at once.
 */
@Injectable()
export class AttemptRecorder {
  private readonly logger = new Logger(AttemptRecorder.name);
  private waiting: Waiting[] = [];
  private writing = false;

  constructor(private readonly store: DeliveryStore) {}

  /** Settles once the attempt is committed. */
  record(attempt: RecordedAttempt): Promise<void> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ attempt, resolve, reject });
      if (!this.writing) void this.writeAll();
    });
  }

  private async writeAll(): Promise<void> {
    this.writing = true;
    // Lets the answers that arrived in the same moment into the first batch.
    await new Promise(setImmediate);
    while (this.waiting.length > 0) {
      const batch = this.waiting.splice(0, MAX_BATCH);
      try {
        await this.write(batch.map(({ attempt }) => attempt));
        for (const { resolve } of batch) resolve();
      } catch (error) {
        for (const { reject } of batch) reject(error as Error);
      }
    }
    this.writing = false;
  }

  /** Tries until the leases run out: an outcome that is lost costs the receiver a duplicate. */
  private async write(attempts: RecordedAttempt[]): Promise<void> {
    const giveUpAt = Date.now() + GIVE_UP_AFTER_MS;
    for (;;) {
      try {
        return await this.store.record(attempts);
      } catch (error) {
        if (Date.now() > giveUpAt) throw error;
        this.logger.warn({ err: error as Error, attempts: attempts.length }, 'attempts not written yet');
        await sleep(RETRY_MS);
      }
    }
  }
}
