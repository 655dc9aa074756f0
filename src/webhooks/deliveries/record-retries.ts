import { Logger } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { partsOf } from '../../common/group-by';
import {
  isDatabaseAway,
  isFaultOfData,
  isLockConflict,
  isStatementTimeout,
} from '../../database/driver/database-errors';
import { AttemptOutcome } from '../sending/attempt-outcome';
import { AttemptRecord } from './delivery';

/** Number of batches into which a failed batch is split. Three splits turn 200 records into single ones. */
const SPLIT_INTO = 8;
/** Milliseconds before the failed batches are tried again. */
const NEXT_BATCH_MS = 200;
/**
 * Milliseconds after which a record that fails alone is given up. They equal the duration of a lease, because
 * another worker then claims the delivery and attempts it again.
 */
const STOP_AFTER_MS = 20_000;

interface Unwritten {
  record: AttemptRecord;
  giveUpAt: number;
  /** Whether the record is written without the receiver's answer, which PostgreSQL has refused. */
  isReduced: boolean;
  resolve: (record: AttemptRecord) => void;
  reject: (error: Error) => void;
}

interface RetriedRecorder {
  /** Writes all of the records, or none. */
  write(records: AttemptRecord[]): Promise<void>;
  onGivenUp(record: AttemptRecord): void;
  onDone(): void;
}

/** Retries the records of failed batches in smaller batches, so that a faulty record fails alone. */
export class RecordRetries {
  private readonly logger = new Logger(RecordRetries.name);
  private batches: Unwritten[][] = [];
  private isWriting = false;

  constructor(private readonly recorder: RetriedRecorder) {}

  /**
   * Begins to write the records of a batch that failed with an error.
   * @returns a promise for each record; it rejects when the record is given up
   */
  retryRecords(records: AttemptRecord[], error: unknown): Promise<AttemptRecord>[] {
    const giveUpAt = Date.now() + STOP_AFTER_MS;
    const unwritten: Unwritten[] = [];
    const results = records.map(
      (record) =>
        new Promise<AttemptRecord>((resolve, reject) =>
          unwritten.push({ record, giveUpAt, isReduced: false, resolve, reject }),
        ),
    );
    // Only faulty data needs a split: after a lock conflict or an overload, the whole batch may succeed.
    this.batches.push(...(isFaultOfData(error) ? split(unwritten) : [unwritten]));
    if (!this.isWriting) void this.writeBatches();
    return results;
  }

  private async writeBatches(): Promise<void> {
    this.isWriting = true;
    while (this.batches.length > 0) {
      await sleep(NEXT_BATCH_MS);
      const batches = this.batches;
      this.batches = [];
      for (const batch of batches) this.batches.push(...(await this.writeBatch(batch)));
    }
    this.isWriting = false;
    this.recorder.onDone();
  }

  private async writeBatch(batch: Unwritten[]): Promise<Unwritten[][]> {
    try {
      await this.recorder.write(
        batch.map(({ record, isReduced }) => (isReduced ? withoutDetails(record) : record)),
      );
      for (const { record, resolve } of batch) resolve(record);
      return [];
    } catch (error) {
      logRetry(
        this.logger,
        batch.map(({ record }) => record),
        error as Error,
      );
      if (batch.length > 1 && mayBeOfOneRecord(error)) return split(batch);
      const left = batch.filter((one) => this.mayRetry(one, error as Error));
      return left.length > 0 ? [left] : [];
    }
  }

  private mayRetry(one: Unwritten, error: Error): boolean {
    const { record, isReduced } = one;
    if (isFaultOfData(error) && !isReduced) {
      one.isReduced = true;
      const { id: deliveryId } = record.delivery;
      this.logger.error({ err: error, deliveryId }, 'an attempt can be recorded in part only');
      return true;
    }
    if (!isFaultOfData(error) && mayWait(one, error)) return true;
    this.recorder.onGivenUp(record);
    one.reject(error);
    return false;
  }
}

function mayWait({ record, giveUpAt }: Unwritten, error: Error): boolean {
  if (Date.now() < giveUpAt) return true;
  // While the database is unreachable, only a test's record is given up, because a request waits for it.
  return !isTestRecord(record) && !mayBeOfOneRecord(error);
}

/** Reports whether one record, or a row that it changes, may be the reason why the whole batch failed. */
export function mayBeOfOneRecord(error: unknown): boolean {
  return !isDatabaseAway(error) || isStatementTimeout(error) || isLockConflict(error);
}

/** Reports whether a record is the record of a test, for whose result an API request waits. */
export function isTestRecord({ delivery }: AttemptRecord): boolean {
  return delivery.lease === null;
}

export function logRetry(logger: Logger, { length: attempts }: AttemptRecord[], error: Error): void {
  logger.warn({ err: error, attempts }, 'attempts not recorded yet; retrying');
}

function split<T>(items: T[]): T[][] {
  return partsOf(items, Math.ceil(items.length / SPLIT_INTO));
}

function withoutDetails(record: AttemptRecord): AttemptRecord {
  const { outcome } = record;
  if (outcome === null) return record;
  const errorMessage = outcome.kind === 'failed' ? 'Not recorded' : null;
  return {
    ...record,
    outcome: { ...outcome, response: null, responseHeaders: null, errorMessage } as AttemptOutcome,
  };
}
