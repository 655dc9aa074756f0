import { BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import { Database } from '../database/database';
import { Transaction } from '../database/transaction';
import { Metrics } from '../metrics/metrics';
import { EventType } from './event-catalog';
import { OutboxSignal } from './outbox.signal';

const BATCH = 500;
const POLL_MS = 1_000;
const RETRY_MS = 500;

export interface OutboxEvent {
  id: string;
  tenantId: string;
  type: EventType;
  /** JSON text. */
  data: string;
  /** The event's position in its conversation; null for an event of no conversation. */
  sequence: string | null;
  createdAt: Date;
}

/** Reacts to events by inserting rows of its own. */
export interface OutboxConsumer {
  /**
   * Called with each batch in the relay's transaction, concurrently with the other consumers. Its rows commit with the
   * relay's.
   */
  consume(tx: Transaction, events: OutboxEvent[]): Promise<void>;
}

/**
 * Relays events from the outbox to their consumers, in order, each exactly once: the consumers' rows and the events'
 * mark commit together. Several relays may run; when one is killed, its batch rolls back for another.
 */
@Injectable()
export class OutboxRelay implements BeforeApplicationShutdown {
  private readonly logger = new Logger(OutboxRelay.name);
  private readonly consumers: OutboxConsumer[] = [];
  private running: Promise<void> | null = null;
  private stopping = false;
  private woken = false;
  private endSleep: () => void = () => {};

  constructor(
    private readonly database: Database,
    private readonly signal: OutboxSignal,
    private readonly metrics: Metrics,
  ) {}

  register(consumer: OutboxConsumer): void {
    this.consumers.push(consumer);
  }

  /** Relays at every signal, and every second in case one was lost. */
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
        this.logger.error({ err: error }, 'relaying failed; it will be retried');
        await this.sleep(RETRY_MS);
      }
    }
  }

  /** @returns how many events were relayed */
  private relayBatch(): Promise<number> {
    return this.database.transaction(async (tx) => {
      const events = await this.claim(tx);
      if (events.length === 0) return 0;
      await this.consume(tx, events);
      return events.length;
    });
  }

  /** Concurrently, so that their statements share round trips. Waits for all, also after a failure. */
  private async consume(tx: Transaction, events: OutboxEvent[]): Promise<void> {
    const errors: Error[] = [];
    const consumed = this.consumers.map((consumer) => consumer.consume(tx, events));
    await Promise.all(consumed.map((done) => done.catch((error: Error) => errors.push(error))));
    // The first in time may have caused the others.
    if (errors[0]) throw errors[0];
  }

  /** The oldest events that no other relay has locked, marked as relayed. */
  private claim(tx: Transaction): Promise<OutboxEvent[]> {
    return tx.prepared<OutboxEvent>(
      `WITH claimed AS (
         SELECT tenant_id, id FROM events WHERE relayed_at IS NULL ORDER BY id LIMIT ${BATCH} FOR NO KEY UPDATE SKIP LOCKED
       ), relayed AS (
         UPDATE events e SET relayed_at = now() FROM claimed WHERE e.tenant_id = claimed.tenant_id AND e.id = claimed.id
         RETURNING e.id, e.tenant_id, e.type, e.data::text, e.sequence, e.created_at
       )
       SELECT id, tenant_id AS "tenantId", type, data, sequence, created_at AS "createdAt" FROM relayed ORDER BY id`,
    );
  }

  private wakeUp(): void {
    this.woken = true;
    this.endSleep();
  }

  /** Returns at once when a signal has arrived since the last batch. */
  private sleep(ms: number): Promise<void> {
    if (this.woken) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.endSleep = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
