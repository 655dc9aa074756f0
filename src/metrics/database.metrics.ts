import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import { Gauge } from 'prom-client';
import { Database } from '../database/database';
import { Metrics } from './metrics';

/** Counting further than this would cost more than the answer is worth: it is far too many already. */
const MAX_DEPTH = 100_000;
const MAX_WAIT_MS = 1_000;

/** What only the database knows: asked at each scrape. */
@Injectable()
export class DatabaseMetrics {
  private readonly logger = new Logger(DatabaseMetrics.name);
  private readonly poolConnections: Gauge<'state'>;
  private readonly outboxDepth: Gauge;
  private readonly outboxAge: Gauge;
  private measuring: Promise<void> | null = null;

  constructor(
    metrics: Metrics,
    private readonly database: Database,
  ) {
    const registers = [metrics.registry];
    this.poolConnections = new Gauge({
      name: 'database_pool_connections',
      help: "This process's connections: busy, idle, and callers that wait for one.",
      labelNames: ['state'] as const,
      registers,
    });
    this.outboxDepth = new Gauge({
      name: 'outbox_depth',
      help: `Events not relayed yet, counted to ${MAX_DEPTH}.`,
      registers,
    });
    this.outboxAge = new Gauge({
      name: 'outbox_oldest_age_seconds',
      help: 'The age of the oldest event not relayed yet.',
      registers,
    });
  }

  /** Settles within a second, however the database is: the other figures matter most while it is away. */
  async collect(): Promise<void> {
    const { totalCount, idleCount, waitingCount } = this.database.pool;
    this.poolConnections.set({ state: 'busy' }, totalCount - idleCount);
    this.poolConnections.set({ state: 'idle' }, idleCount);
    this.poolConnections.set({ state: 'waiting' }, waitingCount);
    // An old figure would look like a present one.
    this.setOutbox(Number.NaN, Number.NaN);
    this.measuring ??= this.measureOutbox().finally(() => (this.measuring = null));
    await Promise.race([this.measuring, sleep(MAX_WAIT_MS)]);
  }

  private async measureOutbox(): Promise<void> {
    try {
      const [row] = await this.database.query<{ depth: number; age: number | null }>(
        `SELECT count(*)::integer AS depth, extract(epoch FROM now() - min(created_at))::float8 AS age
         FROM (SELECT created_at FROM events WHERE relayed_at IS NULL ORDER BY id LIMIT ${MAX_DEPTH}) AS waiting`,
      );
      this.setOutbox(row!.depth, Math.max(0, row!.age ?? 0));
    } catch (error) {
      this.logger.warn({ err: error as Error }, 'the outbox was not measured');
    }
  }

  private setOutbox(depth: number, age: number): void {
    this.outboxDepth.set(depth);
    this.outboxAge.set(age);
  }
}
