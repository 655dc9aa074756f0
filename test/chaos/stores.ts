import { once } from 'node:events';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Redis from 'ioredis';
import { Client } from 'pg';
import { freePort, startReaper } from '../../scripts/processes.mjs';
import { findHome } from '../../scripts/servers/home.mjs';
import { startPostgres } from '../../scripts/servers/postgres.mjs';
import { startRedis } from '../../scripts/servers/redis.mjs';
import { TcpProxy } from '../support/tcp-proxy';

type Reaper = Awaited<ReturnType<typeof startReaper>>;
type Server = Awaited<ReturnType<typeof startPostgres>>;

/** A span of time; `to` is Infinity while it lasts. */
export interface Span {
  from: number;
  to: number;
}

/** PostgreSQL and Redis of this run, which can be killed, frozen and restarted. */
export class Stores {
  /** When PostgreSQL was down, or its connections were cut. */
  readonly databaseAway: Span[] = [];

  private constructor(
    readonly reaper: Reaper,
    private readonly options: Parameters<typeof startPostgres>[0],
    private readonly ports: { postgres: number; redis: number },
    private postgres: Server,
    private redis: Server,
    private readonly redisProxy: TcpProxy,
  ) {}

  static async start(): Promise<Stores> {
    const folder = mkdtempSync(join(tmpdir(), 'messaging-chaos-'));
    chmodSync(folder, 0o755); // the servers may run as another user
    const home = findHome(folder);
    const reaper = await startReaper(join(home.directory, 'lock'));
    for (const path of new Set([folder, home.directory])) reaper.removeAtEnd(path);
    const ports = { postgres: await freePort(), redis: await freePort() };
    // Not disposable: committed data must survive a kill, and Redis must keep its data set.
    const options = { home, reaper, disposable: false, onLog: () => undefined };
    const [postgres, redis] = await Promise.all([
      startPostgres({ ...options, port: ports.postgres }),
      startRedis({ ...options, port: ports.redis }),
    ]);
    return new Stores(reaper, options, ports, postgres, redis, await TcpProxy.start(redis.url));
  }

  get databaseUrl(): string {
    return this.postgres.url;
  }

  /** The address of the proxy in front of Redis. */
  get redisUrl(): string {
    return this.redisProxy.address;
  }

  /** Immediate shutdown: sessions break, and the next start recovers from the write-ahead log. */
  async stopPostgres(): Promise<void> {
    this.databaseAway.push({ from: Date.now(), to: Infinity });
    await this.end(this.postgres, 'SIGQUIT');
  }

  async restartPostgres(): Promise<void> {
    this.postgres = await startPostgres({ ...this.options, port: this.ports.postgres });
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

  /** Connections stay open, but nothing responds. */
  async freezePostgres(ms: number): Promise<void> {
    const span = { from: Date.now(), to: Infinity };
    this.databaseAway.push(span);
    const frozen = freezeTree(this.postgres.child.pid!);
    try {
      await sleep(ms);
    } finally {
      for (const pid of frozen.reverse()) process.kill(pid, 'SIGCONT');
    }
    await this.query('SELECT 1'); // it first ends the sessions of clients that gave up
    span.to = Date.now();
  }

  async killRedis(): Promise<void> {
    await this.end(this.redis, 'SIGKILL');
  }

  /** With its old data set, or empty. */
  async restartRedis({ empty }: { empty: boolean }): Promise<void> {
    if (empty) this.wipeRedisFiles();
    this.redis = await startRedis({ ...this.options, port: this.ports.redis });
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

  /** Every connection to Redis stays open, but is dead. */
  silenceRedis(): void {
    this.redisProxy.silence();
  }

  /** Uses its own connection to the database. */
  async query<Row = Record<string, unknown>>(sql: string, parameters: unknown[] = []): Promise<Row[]> {
    const client = new Client({ connectionString: this.databaseUrl });
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

  private async end({ child }: Server, signal: NodeJS.Signals): Promise<void> {
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
    this.reaper.release(child);
  }

  private wipeRedisFiles(): void {
    const data = join(this.options.home.directory, 'redis');
    for (const name of readdirSync(data)) rmSync(join(data, name), { recursive: true });
  }
}

/**
 * Stops a server and then its children: a session continues without its parent.
 * @returns the stopped processes, in that order
 */
function freezeTree(pid: number): number[] {
  process.kill(pid, 'SIGSTOP');
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
  return [pid, ...children.flatMap((child) => freezeTree(Number(child)))];
}
