import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import { Gauge } from 'prom-client';
import { Database } from '../database/database';
import { DatabaseClock } from '../database/database-clock';
import { OldestSnapshot, SnapshotAge } from '../database/oldest-snapshot';
import { PARTITIONED_TABLES, Partitions } from '../database/history/partitions';
import { Metrics } from './metrics';
import { MAX_DEPTH, OutboxDepthRepository } from './outbox-depth.repository';
import { Quota, QUOTAS, WorkspaceUsageRepository } from './workspace-usage.repository';

const TIMEOUT_MS = 1_000;
/** Interval at which the usage of workspaces is read: the statistics behind it change no faster. */
const USAGE_EVERY_MS = 10 * 60 * 1000;

/** Gauges whose values are read from the database at each scrape. */
@Injectable()
export class DatabaseMetrics {
  private readonly logger = new Logger(DatabaseMetrics.name);
  private readonly poolConnections: Gauge<'state'>;
  private readonly outboxDepth: Gauge;
  private readonly outboxAge: Gauge;
  private readonly clockOffset: Gauge;
  private readonly snapshotAge: Gauge;
  private readonly snapshotTransactions: Gauge;
  private readonly defaultRows: Gauge<'table'>;
  private readonly overQuota: Gauge<'quota'>;
  private usageReadAt = Number.NEGATIVE_INFINITY;
  private measuring: Promise<void> | null = null;

  constructor(
    metrics: Metrics,
    private readonly database: Database,
    private readonly clock: DatabaseClock,
    private readonly snapshots: OldestSnapshot,
    private readonly partitions: Partitions,
    private readonly outbox: OutboxDepthRepository,
    private readonly usage: WorkspaceUsageRepository,
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
      help: `Events in the queue, counted to ${MAX_DEPTH}.`,
      registers,
    });
    this.outboxAge = new Gauge({
      name: 'outbox_oldest_age_seconds',
      help: 'The age of the oldest event in the queue.',
      registers,
    });
    this.clockOffset = new Gauge({
      name: 'database_clock_offset_seconds',
      help: "By how much this process's clock is ahead of the database's.",
      registers,
    });
    this.snapshotAge = new Gauge({
      name: 'database_oldest_snapshot_age_seconds',
      help: 'The age of the oldest snapshot that is held open in the database.',
      registers,
    });
    this.snapshotTransactions = new Gauge({
      name: 'database_oldest_snapshot_transactions',
      help: 'Transactions that began since the oldest snapshot was taken.',
      registers,
    });
    this.defaultRows = new Gauge({
      name: 'partition_default_rows',
      help: 'Rows of the history that have no partition of their day, counted to 1000.',
      labelNames: ['table'] as const,
      registers,
    });
    this.overQuota = new Gauge({
      name: 'workspaces_over_quota',
      help: 'Workspaces that have passed a quota, by estimate.',
      labelNames: ['quota'] as const,
      registers,
    });
  }

  /**
   * Reads the gauges' values. Settles within a second, even while the database is down: the other metrics
   * matter most then.
   */
  async collect(): Promise<void> {
    const { totalCount, idleCount, waitingCount } = this.database.pool;
    this.poolConnections.set({ state: 'busy' }, totalCount - idleCount);
    this.poolConnections.set({ state: 'idle' }, idleCount);
    this.poolConnections.set({ state: 'waiting' }, waitingCount);
    this.clockOffset.set(this.clock.offsetMs / 1000);
    // The last value would look like a current one.
    this.setOutbox(Number.NaN, Number.NaN);
    this.setSnapshot({ seconds: Number.NaN, transactions: Number.NaN });
    for (const table of PARTITIONED_TABLES) this.defaultRows.set({ table }, Number.NaN);
    this.measuring ??= this.measure().finally(() => (this.measuring = null));
    await Promise.race([this.measuring, sleep(TIMEOUT_MS)]);
  }

  private async measure(): Promise<void> {
    try {
      const { depth, age } = await this.outbox.read();
      this.setOutbox(depth, age);
      this.setSnapshot(await this.snapshots.read());
      const rows = await this.partitions.countDefaultRows();
      for (const table of PARTITIONED_TABLES) this.defaultRows.set({ table }, rows[table]);
      await this.measureUsage();
    } catch (error) {
      this.logger.warn({ err: error as Error }, 'failed to measure the database');
    }
  }

  private async measureUsage(): Promise<void> {
    const now = performance.now();
    if (now < this.usageReadAt + USAGE_EVERY_MS) return;
    this.usageReadAt = now;
    const usages = await this.usage.list();
    const count = (quota: Quota) => usages.filter(({ over }) => over.includes(quota)).length;
    for (const quota of QUOTAS) this.overQuota.set({ quota }, count(quota));
  }

  private setSnapshot({ seconds, transactions }: SnapshotAge): void {
    this.snapshotAge.set(seconds);
    this.snapshotTransactions.set(transactions);
  }

  private setOutbox(depth: number, age: number): void {
    this.outboxDepth.set(depth);
    this.outboxAge.set(age);
  }
}
