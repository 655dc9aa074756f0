import { once } from 'node:events';
import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Redis from 'ioredis';
import { Client } from 'pg';
import { freePort, startReaper } from '../../scripts/processes.mjs';
import { findHome } from '../../scripts/servers/home.mjs';
import { startPostgres } from '../../scripts/servers/postgres.mjs';
import { startRedis } from '../../scripts/servers/redis.mjs';
import { holdSnapshot } from '../support/held-snapshot';
import { stopTree } from '../support/process-tree';
import { makeReplica, promote, refusedWrites, replicateAtOnce } from '../support/redis-failover';
import { TcpProxy } from '../support/tcp-proxy';
import { waitFor } from '../support/wait';
import { SmallDisk } from './small-disk';

type Reaper = Awaited<ReturnType<typeof startReaper>>;
type Postgres = Awaited<ReturnType<typeof startPostgres>>;
type RedisServer = Awaited<ReturnType<typeof startRedis>>;
type PostgresOptions = Parameters<typeof startPostgres>[0] & { port: number };
type RedisOptions = Parameters<typeof startRedis>[0] & { port: number };

/** A span of time; `to` is Infinity while it lasts. */
export interface Span {
  from: number;
  to: number;
}

/** PostgreSQL and Redis of this run, which can be killed, frozen and restarted. */
export class Stores {
  /** Times in which PostgreSQL was down or its connections were cut. */
  readonly databaseAway: Span[] = [];

  private constructor(
    readonly reaper: Reaper,
    private readonly options: { postgres: PostgresOptions; redis: RedisOptions },
    private postgres: Postgres,
    private redis: RedisServer,
    private readonly redisProxy: TcpProxy,
    private readonly disk: SmallDisk | string,
  ) {}

  /**
   * Starts the stores.
   * @param withSmallDisk whether PostgreSQL's files are on a disk that can be filled
   */
  static async start({ withSmallDisk }: { withSmallDisk: boolean }): Promise<Stores> {
    const folder = mkdtempSync(join(tmpdir(), 'messaging-chaos-'));
    chmodSync(folder, 0o755); // the servers may run as another user
    const home = findHome(folder);
    const reaper = await startReaper(join(home.directory, 'lock'));
    for (const path of new Set([folder, home.directory])) reaper.removeAtEnd(path);
    const disk = withSmallDisk
      ? await SmallDisk.mount(join(home.directory, 'disk'), reaper)
      : 'it is not in the plan';
    const postgresHome = disk instanceof SmallDisk ? { ...home, directory: disk.folder } : home;
    // The servers are not disposable: committed data must survive a kill, and Redis must keep its data set.
    const options = { home, reaper, disposable: false, onLog: () => undefined };
    const postgresOptions = { ...options, home: postgresHome, port: await freePort() };
    const redisOptions = { ...options, port: await freePort() };
    const [postgres, redis] = await Promise.all([startPostgres(postgresOptions), startRedis(redisOptions)]);
    return new Stores(
      reaper,
      { postgres: postgresOptions, redis: redisOptions },
      postgres,
      redis,
      await TcpProxy.start(redis.url),
      disk,
    );
  }

  get databaseUrl(): string {
    return this.postgres.databaseUrl;
  }

  /** Connection URL of the role that owns the tables. */
  get databaseOwnerUrl(): string {
    return this.postgres.databaseOwnerUrl;
  }

  /** URL of Redis itself, without the proxy, whose delays are those of the suite's process. */
  get redisServerUrl(): string {
    return this.redis.url;
  }

  /** URL of the proxy in front of Redis. */
  get redisUrl(): string {
    return this.redisProxy.address;
  }

  /** Stops PostgreSQL at once: sessions break, and the next start recovers from the write-ahead log. */
  async stopPostgres(): Promise<void> {
    this.databaseAway.push({ from: Date.now(), to: Infinity });
    await this.end(this.postgres, 'SIGQUIT');
  }

  async restartPostgres(): Promise<void> {
    this.postgres = await startPostgres(this.options.postgres);
    this.databaseAway.at(-1)!.to = Date.now();
  }

  /** Ends every session of the service's processes. */
  async cutConnections(): Promise<void> {
    const span = { from: Date.now(), to: Infinity };
    this.databaseAway.push(span);
    await this.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'messaging-%'`,
    );
    span.to = Date.now();
  }

  /** Freezes PostgreSQL: connections stay open, but nothing responds. */
  async freezePostgres(ms: number): Promise<void> {
    const span = { from: Date.now(), to: Infinity };
    this.databaseAway.push(span);
    const frozen = stopTree(this.postgres.child.pid!);
    try {
      await sleep(ms);
    } finally {
      for (const pid of frozen.reverse()) process.kill(pid, 'SIGCONT');
    }
    await this.query('SELECT 1'); // it first ends the sessions of clients that gave up
    span.to = Date.now();
  }

  /**
   * Holds a snapshot open, as an idle transaction of a backup does.
   * @returns a function that ends it
   */
  async holdSnapshot(): Promise<() => Promise<void>> {
    const client = await holdSnapshot(this.postgres.adminUrl);
    // Another fault may restart PostgreSQL, which ends the transaction.
    client.on('error', () => undefined);
    return () => client.end();
  }

  /** Reason why the disk can't be full on this machine; null if it can. */
  get diskIsUnlimited(): string | null {
    return this.disk instanceof SmallDisk ? null : this.disk;
  }

  /**
   * Fills PostgreSQL's disk for a time: no new page can be written. PostgreSQL may end, since it can't work
   * without its write-ahead log.
   */
  async fillDisk(ms: number): Promise<void> {
    if (!(this.disk instanceof SmallDisk)) throw new Error(this.disk);
    const span = { from: Date.now(), to: Infinity };
    this.databaseAway.push(span);
    this.disk.fill();
    await sleep(ms);
    this.disk.free();
    const { child } = this.postgres;
    if (child.exitCode !== null || child.signalCode !== null) {
      this.reaper.release(child);
      this.postgres = await startPostgres(this.options.postgres);
    }
    await this.untilPostgresAnswers();
    span.to = Date.now();
  }

  async killRedis(): Promise<void> {
    await this.end(this.redis, 'SIGKILL');
  }

  /** Starts Redis again, with its old data or empty. */
  async restartRedis({ empty }: { empty: boolean }): Promise<void> {
    if (empty) this.wipeRedisFiles();
    this.redis = await startRedis(this.options.redis);
  }

  async flushRedis(): Promise<void> {
    const redis = new Redis(this.redis.url);
    await redis.flushall();
    redis.disconnect();
  }

  async freezeRedis(ms: number): Promise<void> {
    this.redis.child.kill('SIGSTOP');
    try {
      await sleep(ms);
    } finally {
      this.redis.child.kill('SIGCONT');
    }
  }

  /**
   * Makes a second Redis server the primary. The first one goes on as its replica with all its connections
   * open, and refuses writes.
   * @returns a function that counts the writes that the first server refuses in `ms` milliseconds
   */
  async failOverRedis(): Promise<(ms: number) => Promise<number>> {
    const old = this.redis;
    const directory = mkdtempSync(join(this.options.redis.home.directory, 'redis-'));
    chmodSync(directory, 0o755);
    writeFileSync(join(directory, 'redis.password'), new URL(old.url).password);
    const home = { ...this.options.redis.home, directory };
    const options = { ...this.options.redis, home, port: await freePort() };
    const next = await startRedis(options);
    for (const { url } of [old, next]) await replicateAtOnce(url);
    await makeReplica(next.url, old.url);
    await promote(next.url);
    this.redisProxy.switchTo(next.url);
    await makeReplica(old.url, next.url);
    this.options.redis = options;
    this.redis = next;
    return (ms) => refusedWrites(old.url, ms);
  }

  /** Silences Redis: every connection stays open, but is dead. */
  silenceRedis(): void {
    this.redisProxy.silence();
  }

  /** Runs a query on the suite's own connection, as administrator. */
  async query<Row = Record<string, unknown>>(sql: string, parameters: unknown[] = []): Promise<Row[]> {
    const client = new Client({ connectionString: this.postgres.adminUrl });
    await client.connect();
    try {
      return (await client.query(sql, parameters)).rows as Row[];
    } finally {
      await client.end();
    }
  }

  /** Ends the stores, after all other processes of the reaper. */
  async stop(): Promise<void> {
    await this.redisProxy.cut();
    await this.reaper.finish();
  }

  /** Waits for PostgreSQL, which may be recovering. */
  private async untilPostgresAnswers(): Promise<void> {
    await waitFor('PostgreSQL', () => this.query('SELECT 1').catch(() => null), 60_000);
  }

  private async end({ child }: Postgres | RedisServer, signal: NodeJS.Signals): Promise<void> {
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
    this.reaper.release(child);
  }

  private wipeRedisFiles(): void {
    const data = join(this.options.redis.home.directory, 'redis');
    for (const name of readdirSync(data)) rmSync(join(data, name), { recursive: true });
  }
}
