import { Injectable, Logger } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { Batcher } from '../../common/batcher';
import { isFaultOfData } from '../../database/database-errors';
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
 * Time after which an attempt is no longer recorded: the duration of a lease, after which another worker
 * claims the delivery and attempts it again.
 */
const STOP_AFTER_MS = 20_000;

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

  constructor(
    config: Config,
    private readonly database: Database,
    private readonly events: EventQueueRepository,
    private readonly pending: PendingDeliveriesRepository,
    private readonly history: DeliveryHistoryRepository,
  ) {
    this.batcher = new Batcher(MAX_BATCH, async (records) => {
      const byWorkspace = () => groupBy(records, ({ delivery }) => delivery.endpoint.tenantId).values();
      for (const batch of config.crossWorkspaceBatches ? [records] : byWorkspace()) {
        await this.writeUntilDone(batch);
      }
      return records;
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

  /** Retries until the leases end, because a lost outcome makes the receiver get a duplicate. */
  private async writeUntilDone(records: AttemptRecord[]): Promise<void> {
    const stopAt = Date.now() + STOP_AFTER_MS;
    for (;;) {
      try {
        return await this.write(records);
      } catch (error) {
        if (isFaultOfData(error)) return this.writeHalves(records, error as Error);
        if (Date.now() > stopAt) throw error;
        this.logger.warn(
          { err: error as Error, attempts: records.length },
          'attempts not recorded yet; retrying',
        );
        await sleep(RETRY_MS);
      }
    }
  }

  /**
   * Writes each half of a batch by itself, so that a record that can't be written holds up no other. A record
   * that fails alone is written without the receiver's answer.
   */
  private async writeHalves(records: AttemptRecord[], error: Error): Promise<void> {
    const [first] = records;
    if (records.length === 1) {
      this.logger.error(
        { err: error, deliveryId: first!.delivery.id },
        'an attempt can be recorded in part only',
      );
      return this.write([withoutDetails(first!)]);
    }
    const half = records.length / 2;
    await this.writeUntilDone(records.slice(0, half));
    await this.writeUntilDone(records.slice(half));
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
