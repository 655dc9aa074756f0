import { Injectable, Logger } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { Batcher } from '../../common/batcher';
import { idTime } from '../../common/ids';
import { groupBy } from '../../common/group-by';
import { Database } from '../../database/database';
import { Transaction } from '../../database/transaction';
import { WorkspaceBatcher } from '../../database/workspace-batcher';
import {
  EventLease,
  EventQueueRepository,
  isLeaseLost,
  leaseKeyOf,
} from '../../outbox/event-queue.repository';
import { AttemptOutcome } from '../sending/attempt-outcome';
import { AttemptRecord, Delivery, toPending } from './delivery';
import { DeliveryHistoryRepository, FinishedRound } from './delivery-history.repository';
import { PendingDeliveriesRepository } from './pending-deliveries.repository';
import { DeliveryEnd, RecoveryOutcomesRepository } from './recovery-outcomes.repository';
import { AutomaticRecoveriesRepository, Miss } from '../endpoints/automatic-recoveries.repository';
import { isTestRecord, logRetry, mayBeOfOneRecord, RecordRetries } from './record-retries';

const MAX_BATCH = 200;
/**
 * Milliseconds between two batches while fewer than ENOUGH records wait. At 200 messages a second a message
 * takes 7 % less processor time than with 20 ms, in all processes together.
 */
const BATCH_EVERY_MS = 50;
/** Number of records at which a batch is written at once, such as all that an endpoint has at first. */
const ENOUGH = 10;
const RETRY_MS = 500;
/**
 * Milliseconds from the start of an attempt after which its record is late. The endpoint may have been
 * deactivated meanwhile, so a late record's retry is cancelled if it may not be sent any more.
 */
const LATE_MS = 30_000;

/**
 * Leases of the events whose first attempts are in a batch. A lease is in `ended` if all other first attempts
 * of its event are recorded already, and otherwise in `ongoing`.
 */
interface Leases {
  ended: EventLease[];
  ongoing: EventLease[];
}

/**
 * Records attempts in batches. One transaction stores the attempt and moves its delivery to
 * `pending_deliveries` or to the history. Nothing is stored for an attempt whose lease has ended.
 */
@Injectable()
export class AttemptRecorder {
  private readonly logger = new Logger(AttemptRecorder.name);
  /** Writes one batch at a time, or one for each workspace if workspaces are on several servers. */
  private readonly batcher: WorkspaceBatcher<AttemptRecord, AttemptRecord>;
  /**
   * Numbers of first attempts that are not recorded yet, by the key of the event's lease. A key is removed if
   * one of its attempts can't be recorded. Its event then stays queued, so that another worker claims it.
   */
  private readonly attemptsLeft = new Map<string, number>();
  private readonly retries = new Map<string, RecordRetries>();

  constructor(
    private readonly database: Database,
    private readonly events: EventQueueRepository,
    private readonly pending: PendingDeliveriesRepository,
    private readonly history: DeliveryHistoryRepository,
    private readonly outcomes: RecoveryOutcomesRepository,
    private readonly automatic: AutomaticRecoveriesRepository,
  ) {
    const write = (records: AttemptRecord[]) => this.writeBatch(records);
    const options = { everyMs: BATCH_EVERY_MS, enough: ENOUGH };
    this.batcher = new WorkspaceBatcher(database, () => new Batcher(MAX_BATCH, write, options));
  }

  /**
   * Counts first attempts that are about to begin, so that the last record of each lease is known. With that
   * record, the event is removed from the queue.
   */
  expectAttempts(deliveries: Delivery[]): void {
    for (const delivery of deliveries) {
      const key = eventLeaseKeyOf(delivery);
      this.attemptsLeft.set(key, (this.attemptsLeft.get(key) ?? 0) + 1);
    }
  }

  /** Records an attempt. It resolves when the record is committed, or dropped because its lease has ended. */
  record(record: AttemptRecord): Promise<AttemptRecord> {
    return this.batcher.submit(record.delivery.endpoint.tenantId, record);
  }

  private retriesOf({ delivery }: AttemptRecord): RecordRetries {
    const key = this.database.batchKeyOf(delivery.endpoint.tenantId);
    const known = this.retries.get(key);
    if (known) return known;
    const retries = new RecordRetries({
      write: (records) => this.write(records),
      onGivenUp: ({ delivery }) => {
        if (delivery.lease) this.attemptsLeft.delete(eventLeaseKeyOf(delivery));
      },
      onDone: () => this.retries.delete(key),
    });
    this.retries.set(key, retries);
    return retries;
  }

  /**
   * Writes a batch. While the database is unreachable, it tries the same batch until it succeeds, because a
   * receiver would get the event of a lost record twice. After another error, or if the batch has a test's
   * record, `RecordRetries` takes over the records, so that the next batch does not wait for them.
   */
  private async writeBatch(records: AttemptRecord[]): Promise<(AttemptRecord | Promise<AttemptRecord>)[]> {
    for (;;) {
      try {
        await this.write(records);
        return records;
      } catch (error) {
        logRetry(this.logger, records, error as Error);
        if (mayBeOfOneRecord(error) || records.some(isTestRecord))
          return this.retriesOf(records[0]!).retryRecords(records, error);
        await sleep(RETRY_MS);
      }
    }
  }

  private write(records: AttemptRecord[]): Promise<void> {
    const { tenantId } = records[0]!.delivery.endpoint;
    return this.database.placement.forWorkspace(tenantId, () => this.writeAll(records));
  }

  private async writeAll(records: AttemptRecord[]): Promise<void> {
    const fromEvents = records.filter(({ delivery }) => delivery.lease?.on === 'event');
    const fromRows = records.filter(({ delivery }) => delivery.lease?.on === 'row');
    // A test that was not sent leaves no record: unlike a delivery in a queue, it is not attempted again.
    const tests = records.filter(({ delivery, outcome }) => delivery.lease === null && outcome !== null);
    const leases = this.listLeases(fromEvents);
    const isWritten = fromRows.length === 0 && (await this.tryAtOnce(leases, fromEvents, tests));
    if (!isWritten) await this.writeHeld(leases, fromEvents, fromRows, tests);
    for (const [key, { length }] of groupByLease(fromEvents)) this.countDown(key, length);
  }

  /** Writes records in one round trip if all leases are valid. Otherwise it writes none and returns false. */
  private async tryAtOnce(
    { ended, ongoing }: Leases,
    fromEvents: AttemptRecord[],
    tests: AttemptRecord[],
  ): Promise<boolean> {
    try {
      await this.database.queueTransaction((tx) => {
        this.noteMissedPipelined(tx, fromEvents);
        if (fromEvents.length > 0) this.events.settleAllPipelined(tx, ended, ongoing);
        return Promise.resolve(this.move(tx, fromEvents, tests));
      });
      return true;
    } catch (error) {
      if (isLeaseLost(error)) return false;
      throw error;
    }
  }

  private async writeHeld(
    { ended, ongoing }: Leases,
    fromEvents: AttemptRecord[],
    fromRows: AttemptRecord[],
    tests: AttemptRecord[],
  ): Promise<void> {
    await this.database.queueTransaction(async (tx) => {
      this.noteMissedPipelined(tx, [...fromEvents, ...fromRows]);
      const [events, rows] = await Promise.all([
        fromEvents.length > 0 ? this.events.settle(tx, ended, ongoing) : new Set(),
        fromRows.length > 0 ? this.pending.settle(tx, fromRows) : [],
      ]);
      const held = fromEvents.filter(({ delivery }) => events.has(eventLeaseKeyOf(delivery)));
      this.move(tx, held, [...rows, ...tests]);
      const lost = fromEvents.length + fromRows.length - held.length - rows.length;
      if (lost > 0) this.logger.warn({ attempts: lost }, 'attempts not recorded: their leases had ended');
    });
  }

  /**
   * Has endpoints recovered that chose it, if a delivery to them is given up. It locks the endpoint's state
   * before any delivery, as recoveries do. If the lease has ended, the recovery finds nothing to deliver.
   */
  private noteMissedPipelined(tx: Transaction, records: AttemptRecord[]): void {
    const misses = records.filter(isMiss).map(toMiss);
    if (misses.length > 0) this.automatic.notePipelined(tx, misses);
  }

  private listLeases(records: AttemptRecord[]): Leases {
    const leases: Leases = { ended: [], ongoing: [] };
    for (const [key, ofLease] of groupByLease(records)) {
      const { event, lease } = ofLease[0]!.delivery;
      const isLast = ofLease.length === this.attemptsLeft.get(key);
      const one = { tenantId: event.tenantId, eventId: event.id, leaseId: lease!.id };
      (isLast ? leases.ended : leases.ongoing).push(one);
    }
    return leases;
  }

  private countDown(key: string, recorded: number): void {
    const left = this.attemptsLeft.get(key);
    if (left === undefined) return;
    if (left > recorded) this.attemptsLeft.set(key, left - recorded);
    else this.attemptsLeft.delete(key);
  }

  private move(tx: Transaction, fromEvents: AttemptRecord[], fromRows: AttemptRecord[]): void {
    const attempted = [...fromEvents, ...fromRows].filter(hasOutcome);
    const finished = attempted.filter(isFinished);
    const failed = attempted.filter(({ status }) => status === 'PENDING');
    // Inserts only deliveries without a row, because `settle` has scheduled the retries of the others.
    const owed = fromEvents.filter(({ status }) => status === 'PENDING');
    if (finished.length > 0) this.history.insertFinishedPipelined(tx, finished);
    const recovered = finished.filter(({ delivery }) => delivery.recoveryId !== null);
    if (recovered.length > 0) this.outcomes.insertPipelined(tx, recovered.map(toEnd));
    if (failed.length > 0) this.history.insertAttemptsPipelined(tx, failed);
    if (owed.length > 0) this.pending.insertPipelined(tx, owed.map(toNext));
    const late = owed.filter(({ outcome }) => !outcome || Date.now() - outcome.at.getTime() > LATE_MS);
    if (late.length > 0) this.pending.cancelUnowedPipelined(tx, late.map(toNext));
  }
}

function eventLeaseKeyOf({ event, lease }: Delivery): string {
  return leaseKeyOf({ eventId: event.id, leaseId: lease!.id });
}

function groupByLease(records: AttemptRecord[]): Map<string, AttemptRecord[]> {
  return groupBy(records, ({ delivery }) => eventLeaseKeyOf(delivery));
}

function hasOutcome<T extends AttemptRecord>(record: T): record is T & { outcome: AttemptOutcome } {
  return record.outcome !== null;
}

type Finished<T> = T & { status: FinishedRound['status'] };

function isFinished<T extends AttemptRecord>(record: T): record is Finished<T> {
  return record.status !== 'PENDING';
}

/** Reports whether a new event is given up. Redeliveries and recoveries do not count. */
function isMiss({ delivery, status }: AttemptRecord): boolean {
  const { endpoint, event, round, recoveryId } = delivery;
  const { recoversSince } = endpoint;
  const isNew = round === 1 && recoveryId === null;
  return status === 'EXHAUSTED' && isNew && recoversSince !== null && event.createdAt >= recoversSince;
}

function toMiss({ delivery: { endpoint, event } }: AttemptRecord): Miss {
  return { tenantId: endpoint.tenantId, endpointId: endpoint.id, since: idTime(event.id) };
}

function toEnd({ delivery, status }: Finished<AttemptRecord>): DeliveryEnd {
  return { tenantId: delivery.endpoint.tenantId, recoveryId: delivery.recoveryId, status };
}

function toNext({ delivery, outcome, retryDelayMs }: AttemptRecord) {
  const attemptCount = delivery.attemptCount + (outcome ? 1 : 0);
  const last = { lastStatusCode: outcome?.statusCode ?? null, lastError: outcome?.error ?? null };
  return { ...toPending({ ...delivery, attemptCount }), ...last, delayMs: retryDelayMs ?? 0 };
}
