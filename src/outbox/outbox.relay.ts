import { BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import { Database } from '../database/database';
import { Transaction } from '../database/transaction';
import { Metrics } from '../metrics/metrics';
import { EventType } from './event-catalog';
import { OutboxSignal } from './outbox.signal';

const BATCH = 500;
const POLL_MS = 1_000;
const RETRY_MS = 500;

/** An event as its consumers see it. */
export interface OutboxEvent {
  id: string;
  tenantId: string;
  type: EventType;
  /** JSON text, as it was appended. */
  data: string;
  /** Its place among the events of its conversation, if it is of one. */
  sequence: string | null;
  createdAt: Date;
}

/** Something that reacts to events by inserting rows of its own. */
export interface OutboxConsumer {
  /**
   * Called with each batch in the relay's transaction, at the same time as the other consumers: what it inserts is
   * committed with the events' relaying.
   */
  consume(tx: Transaction, events: OutboxEvent[]): Promise<void>;
}

/**
 * Moves events from the outbox to their consumers, in the order they were made, each exactly once: rows inserted and
 * events marked in one transaction. Several relays share the work; a killed one leaves its batch to the others.
 */
@Injectable()
export class OutboxRelay implements BeforeApplicationShutdown {
  private readonly logger = new Logger(OutboxRelay.name);
  private readonly consumers: OutboxConsumer[] = [];
  private running: Promise<void> | null = null;
  private stopping = false;
  private woken = false;
  private wake: () => void = () => {};

  constructor(
    private readonly database: Database,
    private readonly signal: OutboxSignal,
    private readonly metrics: Metrics,
  ) {}

  register(consumer: OutboxConsumer): void {
    this.consumers.push(consumer);
  }

  /** Starts relaying: at every signal, and every second in case one was lost. */
  start(): void {
    this.signal.onSignal(() => this.wakeUp());
    this.running = this.run();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stopping = true;
    this.wakeUp();
    await this.running;
  }

  private async run(): Promise<void> {
    while (!this.stopping) {
      this.woken = false;
      try {
        const relayed = await this.relayBatch();
        this.metrics.outboxRelayed.inc(relayed);
        if (relayed < BATCH) await this.sleep(POLL_MS);
      } catch (error) {
        this.logger.error({ err: error }, 'relaying failed; it goes on shortly');
        await this.sleep(RETRY_MS);
      }
    }
  }

  /** @returns how many events were relayed */
  private relayBatch(): Promise<number> {
    return this.database.transaction(async (tx) => {
      const events = await this.take(tx);
      if (events.length === 0) return 0;
      await this.consume(tx, events);
      return events.length;
    });
  }

  /** All at once, so that they share ways to the database. None is left at it when the transaction ends for another. */
  private async consume(tx: Transaction, events: OutboxEvent[]): Promise<void> {
    const faults: Error[] = [];
    const consumed = this.consumers.map((consumer) => consumer.consume(tx, events));
    await Promise.all(consumed.map((done) => done.catch((error: Error) => faults.push(error))));
    // The first in time: what failed after it may have failed because of it.
    if (faults[0]) throw faults[0];
  }

  /** The oldest events that no other relay has in hand, marked as relayed if all goes well with them. */
  private take(tx: Transaction): Promise<OutboxEvent[]> {
    return tx.prepared<OutboxEvent>(
      `WITH taken AS (
         SELECT tenant_id, id FROM events WHERE relayed_at IS NULL ORDER BY id LIMIT ${BATCH} FOR NO KEY UPDATE SKIP LOCKED
       ), relayed AS (
         UPDATE events e SET relayed_at = now() FROM taken WHERE e.tenant_id = taken.tenant_id AND e.id = taken.id
         RETURNING e.id, e.tenant_id, e.type, e.data::text, e.sequence, e.created_at
       )
       SELECT id, tenant_id AS "tenantId", type, data, sequence, created_at AS "createdAt" FROM relayed ORDER BY id`,
    );
  }

  private wakeUp(): void {
    this.woken = true;
    this.wake();
  }

  /** Waits, but not when a signal came in the meantime. */
  private sleep(ms: number): Promise<void> {
    if (this.woken) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
