import { Injectable, Logger } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import type { Pool } from 'pg';
import { Gauge } from 'prom-client';
import { DataSource } from 'typeorm';
import { DATA_SOURCE, Database } from '../database/database';
import { Metrics } from './metrics';

/** Counting further than this would cost more than the answer is worth: it is far too many already. */
const MAX_DEPTH = 100_000;

/** What only the database knows: asked at each scrape. */
@Injectable()
export class DatabaseMetrics {
  private readonly logger = new Logger(DatabaseMetrics.name);
  private readonly poolConnections: Gauge<'state'>;
  private readonly outboxDepth: Gauge;
  private readonly outboxAge: Gauge;

  constructor(
    metrics: Metrics,
    private readonly database: Database,
    @InjectDataSource(DATA_SOURCE) private readonly dataSource: DataSource,
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

  async collect(): Promise<void> {
    const { totalCount, idleCount, waitingCount } = (this.dataSource.driver as unknown as { master: Pool })
      .master;
    this.poolConnections.set({ state: 'busy' }, totalCount - idleCount);
    this.poolConnections.set({ state: 'idle' }, idleCount);
    this.poolConnections.set({ state: 'waiting' }, waitingCount);
    try {
      const [row] = await this.database.query<{ depth: number; age: number | null }>(
        `SELECT count(*)::integer AS depth, extract(epoch FROM now() - min(created_at))::float8 AS age
         FROM (SELECT created_at FROM events WHERE relayed_at IS NULL ORDER BY id LIMIT ${MAX_DEPTH}) AS waiting`,
      );
      this.outboxDepth.set(row!.depth);
      this.outboxAge.set(Math.max(0, row!.age ?? 0));
    } catch (error) {
      // The other figures matter most while the database is away.
      this.logger.warn({ err: error as Error }, 'the outbox was not measured');
    }
  }
}
