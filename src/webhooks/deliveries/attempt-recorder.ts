import { Injectable, Logger } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { Batcher } from '../../common/batcher';
import {
  isDatabaseAway,
  isFaultOfData,
  isLockConflict,
  isStatementTimeout,
} from '../../database/database-errors';
import { groupBy } from '../../common/group-by';
import { Config } from '../../config/config';
import { Database } from '../../database/database';
import { Transaction } from '../../database/transaction';
import { EventLease, EventQueueRepository, leaseKeyOf } from '../../outbox/event-queue.repository';
import { AttemptOutcome } from '../sending/attempt-outcome';
import { AttemptRecord, Delivery } from './delivery';
import { DeliveryHistoryRepository } from './delivery-history.repository';
import { PendingDeliveriesRepository, toPending } from './pending-deliveries.repository';

const MAX_BATCH = 200;
const RETRY_MS = 500;
/**
 * Number of parts into which a part that failed is split. A full batch is down to single records in three
 * steps.
 */
const PARTS = 8;
/** Time between two tries of a part. */
const NEXT_PART_MS = 200;
/**
 * Time after which a record that fails alone is given up: the duration of a lease, after which another worker
 * claims the delivery and attempts it again.
 */
const STOP_AFTER_MS = 20_000;

/** Record of a batch that failed. */
interface Unwritten {
  record: AttemptRecord;
  giveUpAt: number;
  /** Whether it is written without the receiver's answer, because PostgreSQL refuses all of it. */
  isReduced: boolean;
  resolve: (record: AttemptRecord) => void;
  reject: (error: Error) => void;
}

/**
 * Records attempts in batches. Each record moves its delivery in one transaction, from its event or from the
 * pending deliveries to the pending deliveries or to the history, if the lease still holds.
 */
@Injectable()
export class AttemptRecorder {
  private readonly logger = new Logger(AttemptRecorder.name);
  private readonly batcher: Batcher<AttemptRecord, AttemptRecord>;
  /**
   * Numbers of first attempts that are not recorded yet, by the key of their event's lease. A lease whose
   * attempts can't all be recorded has none: its event ends after another worker has taken it.
   */
  private readonly attemptsLeft = new Map<string, number>();
  /** Records of failed batches, in the parts in which they are tried next. */
  private failedParts: Unwritten[][] = [];
  private isWritingParts = false;

  constructor(
    config: Config,
    private readonly database: Database,
    private readonly events: EventQueueRepository,
    private readonly pending: PendingDeliveriesRepository,
    private readonly history: DeliveryHistoryRepository,
  ) {
    this.batcher = new Batcher(MAX_BATCH, async (records) => {
      if (config.crossWorkspaceBatches) return this.writeBatch(records);
      const written = new Map<AttemptRecord, AttemptRecord | Promise<AttemptRecord>>();
      for (const batch of groupBy(records, ({ delivery }) => delivery.endpoint.tenantId).values()) {
        const results = await this.writeBatch(batch);
        for (const [n, record] of batch.entries()) written.set(record, results[n]!);
      }
      return records.map((record) => written.get(record)!);
    });
  }

  /** Notes first attempts that begin: an event ends with the record of the last attempt of its lease. */
  expectAttempts(deliveries: Delivery[]): void {
    for (const delivery of deliveries) {
      const key = eventLeaseKeyOf(delivery);
      this.attemptsLeft.set(key, (this.attemptsLeft.get(key) ?? 0) + 1);
    }
  }

  /**
   * Records an attempt. It resolves when the record is committed, or is not needed any more because its lease
   * has ended.
   */
  record(record: AttemptRecord): Promise<AttemptRecord> {
    return this.batcher.submit(record);
  }

  /**
   * Writes a batch. While the database serves nobody, it tries the same batch again: any other would fail
   * too, and a lost outcome makes the receiver get a duplicate. After another failure the records are written
   * apart, and the next batch does not wait for them.
   */
  private async writeBatch(records: AttemptRecord[]): Promise<(AttemptRecord | Promise<AttemptRecord>)[]> {
    for (;;) {
      try {
        await this.write(records);
        return records;
      } catch (error) {
        this.logRetry(records, error as Error);
        if (mayBeOfOneRecord(error) || records.some(isTestRecord)) return this.writeApart(records, error);
        await sleep(RETRY_MS);
      }
    }
  }

  /**
   * Begins to write the records of a failed batch in smaller and smaller parts, so that one that can't be
   * written fails alone.
   * @returns a promise for each record
   */
  private writeApart(records: AttemptRecord[], error: unknown): Promise<AttemptRecord>[] {
    const giveUpAt = Date.now() + STOP_AFTER_MS;
    const unwritten: Unwritten[] = [];
    const results = records.map(
      (record) =>
        new Promise<AttemptRecord>((resolve, reject) =>
          unwritten.push({ record, giveUpAt, isReduced: false, resolve, reject }),
        ),
    );
    // A lock or an overload may have passed.
    this.failedParts.push(...(isFaultOfData(error) ? split(unwritten) : [unwritten]));
    if (!this.isWritingParts) void this.writeParts();
    return results;
  }

  /** Tries the parts in turns, one at a time, until each record is written or given up. */
  private async writeParts(): Promise<void> {
    this.isWritingParts = true;
    while (this.failedParts.length > 0) {
      await sleep(NEXT_PART_MS);
      const parts = this.failedParts;
      this.failedParts = [];
      for (const part of parts) this.failedParts.push(...(await this.writePart(part)));
    }
    this.isWritingParts = false;
  }

  /** Writes a part, and returns the parts that are left of it. */
  private async writePart(part: Unwritten[]): Promise<Unwritten[][]> {
    try {
      await this.write(part.map(({ record, isReduced }) => (isReduced ? withoutDetails(record) : record)));
      for (const { record, resolve } of part) resolve(record);
      return [];
    } catch (error) {
      this.logRetry(
        part.map(({ record }) => record),
        error as Error,
      );
      if (part.length > 1 && mayBeOfOneRecord(error)) return split(part);
      const left = part.filter((one) => this.mayGoOn(one, error as Error));
      return left.length > 0 ? [left] : [];
    }
  }

  /** Reports whether a record that failed is tried again. If not, it is rejected. */
  private mayGoOn(one: Unwritten, error: Error): boolean {
    const { delivery } = one.record;
    const isFaulty = isFaultOfData(error);
    // While the database serves nobody, only a test gives up: a request waits for it.
    const mayWait = Date.now() < one.giveUpAt || (!isTestRecord(one.record) && !mayBeOfOneRecord(error));
    if (isFaulty ? one.isReduced : !mayWait) {
      if (delivery.lease) this.attemptsLeft.delete(eventLeaseKeyOf(delivery));
      one.reject(error);
      return false;
    }
    if (isFaulty) {
      one.isReduced = true;
      this.logger.error({ err: error, deliveryId: delivery.id }, 'an attempt can be recorded in part only');
    }
    return true;
  }

  private logRetry({ length: attempts }: AttemptRecord[], error: Error): void {
    this.logger.warn({ err: error, attempts }, 'attempts not recorded yet; retrying');
  }

  private async write(records: AttemptRecord[]): Promise<void> {
    const fromEvents = records.filter(({ delivery }) => delivery.lease?.on === 'event');
    const fromRows = records.filter(({ delivery }) => delivery.lease?.on === 'row');
    // A test is in no queue, and has no further attempt.
    const tests = records.filter(({ delivery, outcome }) => delivery.lease === null && outcome !== null);
    await this.database.queueTransaction(async (tx) => {
      const [events, rows] = await Promise.all([
        this.settleEvents(tx, fromEvents),
        fromRows.length > 0 ? this.pending.settle(tx, fromRows) : [],
      ]);
      const held = fromEvents.filter(({ delivery }) => events.has(eventLeaseKeyOf(delivery)));
      this.move(tx, held, [...rows, ...tests]);
      const lost = fromEvents.length + fromRows.length - held.length - rows.length;
      if (lost > 0) this.logger.warn({ attempts: lost }, 'attempts not recorded: their leases had ended');
    });
    for (const [key, { count }] of groupByLease(fromEvents)) this.countDown(key, count);
  }

  /**
   * Ends the events of which every first attempt is now recorded, and locks the others.
   * @returns the keys of the leases that still hold
   */
  private async settleEvents(tx: Transaction, records: AttemptRecord[]): Promise<Set<string>> {
    if (records.length === 0) return new Set();
    const ended: EventLease[] = [];
    const ongoing: EventLease[] = [];
    for (const [key, { lease, count }] of groupByLease(records))
      (count === this.attemptsLeft.get(key) ? ended : ongoing).push(lease);
    return this.events.settle(tx, ended, ongoing);
  }

  private countDown(key: string, recorded: number): void {
    const left = this.attemptsLeft.get(key);
    if (left === undefined) return;
    if (left > recorded) this.attemptsLeft.set(key, left - recorded);
    else this.attemptsLeft.delete(key);
  }

  private move(tx: Transaction, fromEvents: AttemptRecord[], fromRows: AttemptRecord[]): void {
    const attempted = [...fromEvents, ...fromRows].filter(hasOutcome);
    const finished = attempted.filter(({ status }) => status !== 'PENDING');
    const failed = attempted.filter(({ status }) => status === 'PENDING');
    const postponed = fromEvents.filter(({ status }) => status === 'PENDING');
    if (finished.length > 0) this.history.insertFinishedPipelined(tx, finished);
    if (failed.length > 0) this.history.insertAttemptsPipelined(tx, failed);
    if (postponed.length > 0) this.pending.insertPipelined(tx, postponed.map(toNext));
  }
}

/** Reports whether one record, or a row that it needs, may have made its batch fail. */
function mayBeOfOneRecord(error: unknown): boolean {
  return !isDatabaseAway(error) || isStatementTimeout(error) || isLockConflict(error);
}

/** Reports whether a record is of the Test button, for whose result a request waits. */
function isTestRecord({ delivery }: AttemptRecord): boolean {
  return delivery.lease === null;
}

function split<T>(items: T[]): T[][] {
  const size = Math.ceil(items.length / PARTS);
  return Array.from({ length: Math.ceil(items.length / size) }, (_, n) =>
    items.slice(n * size, (n + 1) * size),
  );
}

function eventLeaseKeyOf({ event, lease }: Delivery): string {
  return leaseKeyOf({ eventId: event.id, leaseId: lease!.id });
}

/** Returns the events' leases of records, each with the number of its records. */
function groupByLease(records: AttemptRecord[]): Map<string, { lease: EventLease; count: number }> {
  const leases = new Map<string, { lease: EventLease; count: number }>();
  for (const { delivery } of records) {
    const { event, lease } = delivery;
    const known = leases.get(eventLeaseKeyOf(delivery));
    if (known) known.count += 1;
    else {
      const of = { tenantId: event.tenantId, eventId: event.id, leaseId: lease!.id };
      leases.set(eventLeaseKeyOf(delivery), { lease: of, count: 1 });
    }
  }
  return leases;
}

function hasOutcome<T extends AttemptRecord>(record: T): record is T & { outcome: AttemptOutcome } {
  return record.outcome !== null;
}

function toNext({ delivery, outcome, retryDelayMs }: AttemptRecord) {
  const attemptCount = delivery.attemptCount + (outcome ? 1 : 0);
  const last = { lastStatusCode: outcome?.statusCode ?? null, lastError: outcome?.error ?? null };
  return { ...toPending({ ...delivery, attemptCount }), ...last, delayMs: retryDelayMs ?? 0 };
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
