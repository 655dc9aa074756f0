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

/**
 * Number of smaller batches into which one that failed is split. A full batch is down to single records in
 * three steps.
 */
const SPLIT_INTO = 8;
/** Time between two tries of a batch. */
const NEXT_BATCH_MS = 200;
/**
 * Time after which a record that fails alone is given up: the duration of a lease, after which another worker
 * claims the delivery and attempts it again.
 */
const STOP_AFTER_MS = 20_000;

/** Record of a batch that failed. */
interface Unwritten {
  record: AttemptRecord;
  giveUpAt: number;
  /**
   * Whether the record is written without the receiver's answer, because PostgreSQL refuses the whole record.
   */
  isReduced: boolean;
  resolve: (record: AttemptRecord) => void;
  reject: (error: Error) => void;
}

/** Recorder whose batches have failed. */
interface RetriedRecorder {
  /** Writes all of the records, or none. */
  write(records: AttemptRecord[]): Promise<void>;
  /** Gets a record that is written no more. */
  onGivenUp(record: AttemptRecord): void;
  /** Is called when no record is left. */
  onDone(): void;
}

/**
 * Writes the records of failed batches in smaller and smaller ones, so that a record that can't be written
 * fails alone.
 */
export class RecordRetries {
  private readonly logger = new Logger(RecordRetries.name);
  private batches: Unwritten[][] = [];
  private isWriting = false;

  constructor(private readonly recorder: RetriedRecorder) {}

  /**
   * Begins to write the records of a batch that failed with an error.
   * @returns a promise for each record
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
    // A lock or an overload may have passed.
    this.batches.push(...(isFaultOfData(error) ? split(unwritten) : [unwritten]));
    if (!this.isWriting) void this.writeBatches();
    return results;
  }

  /** Tries the batches in turns, one at a time, until each record is written or given up. */
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

  /** Writes a batch, and returns the records that are left of it, in batches. */
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

  /** Reports whether a record that failed is tried again. If not, it is given up. */
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

/** Reports whether a fault of the world may pass before a record is given up. */
function mayWait({ record, giveUpAt }: Unwritten, error: Error): boolean {
  if (Date.now() < giveUpAt) return true;
  // While the database is away, only a test gives up.
  return !isTestRecord(record) && !mayBeOfOneRecord(error);
}

/** Reports whether one record, or a row that it needs, may have made its batch fail. */
export function mayBeOfOneRecord(error: unknown): boolean {
  return !isDatabaseAway(error) || isStatementTimeout(error) || isLockConflict(error);
}

/** Reports whether a record is of the Test button, for whose result a request waits. */
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
