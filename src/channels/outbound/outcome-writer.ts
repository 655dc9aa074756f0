import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import { Database } from '../../database/database';
import { isDatabaseAway, isFaultOfData } from '../../database/driver/database-errors';
import { Transaction } from '../../database/transaction';
import { MessageKey } from '../../messages/message-status.repository';

/** Milliseconds before the first retry to record an outcome. Each further wait is twice as long. */
const RETRY_MS = 500;
const LONGEST_RETRY_MS = 4_000;
/** Milliseconds after which retries end if the database answers, because then the statement must be wrong. */
const STOP_AFTER_MS = 60_000;

/** Records outcomes of attempts, and retries while the database cannot be reached. */
@Injectable()
export class OutcomeWriter {
  private readonly logger = new Logger(OutcomeWriter.name);

  constructor(private readonly database: Database) {}

  /**
   * Records an outcome. A message whose outcome is lost becomes UNKNOWN when its lease ends. Even then, a
   * successful retry still makes a sent message SENT.
   */
  async write<Result>(
    { tenantId, messageId }: MessageKey,
    outcome: string,
    record: (tx: Transaction) => Promise<Result>,
  ): Promise<Result> {
    const stopAt = Date.now() + STOP_AFTER_MS;
    for (let delayMs = RETRY_MS; ; delayMs = Math.min(2 * delayMs, LONGEST_RETRY_MS)) {
      try {
        return await this.database.placement.forWorkspace(tenantId, () => this.database.transaction(record));
      } catch (error) {
        if (isFaultOfData(error) || (!isDatabaseAway(error) && Date.now() > stopAt)) throw error;
        this.logger.warn(
          { err: error as Error, messageId, outcome },
          'send result not recorded yet; retrying',
        );
        await sleep(delayMs);
      }
    }
  }
}
