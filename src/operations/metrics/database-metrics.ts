import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import { Gauge } from 'prom-client';
import { ALERT_KINDS, AlertKind } from '../../alerts/alert-kinds';
import { Database } from '../../database/database';
import { DatabaseClock } from '../../database/database-clock';
import { OldestSnapshot, SnapshotAge } from '../../database/oldest-snapshot';
import { PARTITIONED_TABLES, Partitions } from '../../database/history/partitions';
import { RECENT_FLOOR, savedFirstEvent } from '../../queue/floors/queue-floors.repository';
import { Metrics } from '../../metrics/metrics';
import { Quota, QUOTAS, WorkspaceUsageRepository } from './workspace-usage.repository';

const TIMEOUT_MS = 1_000;
/** Milliseconds between two reads of the workspaces' usage. The statistics behind it change no faster. */
const USAGE_EVERY_MS = 10 * 60 * 1000;
/** Largest number of queued events that are counted. Counting more takes time and tells operators no more. */
const MAX_DEPTH = 100_000;
/** Largest number of open alerts of a database server that are counted. */
const MAX_ALERTS = 10_000;

/**
 * SQL of the queue that skips dead rows: it reads the events of each workspace from the workspace's saved
 * floor on, the time before which no event is left.
 */
const QUEUE_FROM_FLOORS = `workspaces w, LATERAL (
  SELECT queued_at FROM event_queue
  WHERE tenant_id = w.id AND event_id >= (${savedFirstEvent('w.id')}) ORDER BY event_id) q`;

interface Depth {
  depth: number;
  age: number | null;
}

/** Sets the gauges whose values are read from the database at each scrape. */
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
  private readonly openAlerts: Gauge<'kind'>;
  private readonly overQuota: Gauge<'quota'>;
  private usageReadAt = Number.NEGATIVE_INFINITY;
  private measuring: Promise<void> | null = null;

  constructor(
    metrics: Metrics,
    private readonly database: Database,
    private readonly clock: DatabaseClock,
    private readonly snapshots: OldestSnapshot,
    private readonly partitions: Partitions,
    private readonly usage: WorkspaceUsageRepository,
  ) {
    this.poolConnections = metrics.gauge(
      'database_pool_connections',
      "This process's connections: busy, idle, and callers that wait for one.",
      'state',
    );
    this.outboxDepth = metrics.gauge('outbox_depth', `Events in the queue, counted to ${MAX_DEPTH}.`);
    this.outboxAge = metrics.gauge('outbox_oldest_age_seconds', 'The age of the oldest event in the queue.');
    this.clockOffset = metrics.gauge(
      'database_clock_offset_seconds',
      "By how much this process's clock is ahead of the database's.",
    );
    this.snapshotAge = metrics.gauge(
      'database_oldest_snapshot_age_seconds',
      'The age of the oldest snapshot that is held open in the database.',
    );
    this.snapshotTransactions = metrics.gauge(
      'database_oldest_snapshot_transactions',
      'Transactions that began since the oldest snapshot was taken.',
    );
    this.defaultRows = metrics.gauge(
      'partition_default_rows',
      'Rows of the history that have no partition of their day, counted to 1000.',
      'table',
    );
    this.openAlerts = metrics.gauge(
      'alerts_open',
      `Open alerts of all workspaces, counted to ${MAX_ALERTS}.`,
      'kind',
    );
    this.overQuota = metrics.gauge(
      'workspaces_over_quota',
      'Workspaces that have passed a quota, by estimate.',
      'quota',
    );
  }

  /**
   * Reads the gauges' values. Resolves within a second even while the database is down, because operators
   * then need the other metrics most.
   */
  async collect(): Promise<void> {
    const { totalCount, idleCount, waitingCount } = this.database.pool;
    this.poolConnections.set({ state: 'busy' }, totalCount - idleCount);
    this.poolConnections.set({ state: 'idle' }, idleCount);
    this.poolConnections.set({ state: 'waiting' }, waitingCount);
    this.clockOffset.set(this.clock.offsetMs / 1000);
    // The gauges are reset, because an old value would look like a current one if the read fails.
    this.setOutbox(Number.NaN, Number.NaN);
    this.setSnapshot({ seconds: Number.NaN, transactions: Number.NaN });
    for (const table of PARTITIONED_TABLES) this.defaultRows.set({ table }, Number.NaN);
    for (const kind of ALERT_KINDS) this.openAlerts.set({ kind }, Number.NaN);
    this.measuring ??= this.measure().finally(() => (this.measuring = null));
    await Promise.race([this.measuring, sleep(TIMEOUT_MS)]);
  }

  private async measure(): Promise<void> {
    try {
      const { depth, age } = await this.readOutbox();
      this.setOutbox(depth, age);
      this.setSnapshot(await this.snapshots.read());
      const rows = await this.partitions.countDefaultRows();
      for (const table of PARTITIONED_TABLES) this.defaultRows.set({ table }, rows[table]);
      const alerts = await this.readAlerts();
      for (const kind of ALERT_KINDS) this.openAlerts.set({ kind }, alerts.get(kind) ?? 0);
      await this.measureUsage();
    } catch (error) {
      this.logger.warn({ err: error as Error }, 'failed to measure the database');
    }
  }

  /** Returns the number of queued events, up to MAX_DEPTH, and the age in seconds of the oldest one. */
  private async readOutbox(): Promise<{ depth: number; age: number }> {
    const floors = await this.database.placement.searchAll(RECENT_FLOOR, { order: () => [] });
    const areUsed = floors.length > 0;
    const sql = `SELECT count(*)::integer AS depth, extract(epoch FROM now() - min(queued_at))::float8 AS age
      FROM (SELECT queued_at FROM ${areUsed ? QUEUE_FROM_FLOORS : 'event_queue'} LIMIT ${MAX_DEPTH}) AS queued`;
    const parts = await this.database.placement.searchAll<Depth>(sql, { order: () => [] });
    const depth = parts.reduce((sum, part) => sum + part.depth, 0);
    return { depth: Math.min(depth, MAX_DEPTH), age: Math.max(0, ...parts.map(({ age }) => age ?? 0)) };
  }

  /** Returns the numbers of open alerts. Of a kind that a later version has stored nothing is measured. */
  private async readAlerts(): Promise<Map<AlertKind, number>> {
    const parts = await this.database.placement.searchAll<{ kind: AlertKind; count: number }>(
      `SELECT kind, count(*)::integer AS count
       FROM (SELECT kind FROM alerts WHERE resolved_at IS NULL LIMIT ${MAX_ALERTS}) AS open GROUP BY kind`,
      { order: () => [] },
    );
    const counts = new Map<AlertKind, number>();
    for (const { kind, count } of parts) counts.set(kind, (counts.get(kind) ?? 0) + count);
    return counts;
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
