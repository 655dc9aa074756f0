import { fork, spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import pg from 'pg';
import { HEAP_OPTIONS } from '../../scripts/app.mjs';
import { freePort, LauncherError, sleep } from '../../scripts/processes.mjs';
import type { Posted, Posting } from '../limits/deliver.mts';
import type { Environment, Running } from './environment.mts';
import { addReceiving } from './fill.mts';
import { newReceiving, withApiKey, type Fixture, type Group, type Receiving } from './fixture.mts';
import type { HostCall, HostResult } from './host-process.mts';
import { insertApiKeys } from './insert-workspaces.mts';
import { itemAt } from './items.mts';
import { nextMessage } from './next-message.mts';
import { POOL_SIZE, SECRETS_KEYS } from './settings.mts';

const file = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const READY_WITHIN_MS = 30_000;

export type Role = 'api' | 'worker';

/** Running process that answers HTTP requests at `url`. */
export interface Server extends Running {
  url: string;
}

/**
 * Running process of the benchmark that carries out one command at a time. `run` returns a command's result.
 */
interface Servant<Command, Result> extends Server {
  run: (command: Command) => Promise<Result>;
}

/**
 * Filled PostgreSQL database and an empty Redis database, with the processes of the service that use them.
 */
export class Deployment {
  readonly environment: Environment;
  /** Name of the PostgreSQL database. */
  readonly database: string;
  readonly fixture: Fixture;
  readonly databaseUrl: string;
  readonly databaseAdminUrl: string;
  readonly redisUrl: string;
  /**
   * Environment variables of processes that act as the owner of the tables; empty if the service's role owns
   * them.
   */
  readonly ownerEnv: { DATABASE_OWNER_URL?: string };
  readonly env: NodeJS.ProcessEnv;
  readonly pool: pg.Pool;
  readonly redis: Redis;

  constructor(environment: Environment, database: string, fixture: Fixture) {
    const { databaseUrl, databaseOwnerUrl, databaseAdminUrl, redisUrl } = environment.servers;
    this.environment = environment;
    this.database = database;
    this.fixture = fixture;
    this.databaseUrl = withPath(databaseUrl, database);
    this.databaseAdminUrl = withPath(databaseAdminUrl, database);
    this.ownerEnv = databaseOwnerUrl ? { DATABASE_OWNER_URL: withPath(databaseOwnerUrl, database) } : {};
    this.redisUrl = withPath(redisUrl, String(environment.deployments.length + 1));
    this.pool = new pg.Pool({ connectionString: this.databaseAdminUrl, max: POOL_SIZE });
    this.pool.on('error', () => undefined); // its server ends first
    this.redis = new Redis(this.redisUrl);
    this.redis.on('error', () => undefined); // the same
    this.env = {
      ...process.env,
      DATABASE_URL: this.databaseUrl,
      DATABASE_OWNER_URL: undefined, // only for those that get `ownerEnv`
      DATABASE_POOL_SIZE: String(POOL_SIZE),
      REDIS_URL: this.redisUrl,
      SECRETS_KEYS,
      FILE_STORE_DIRECTORY: join(environment.folder, `files-of-${database}`),
      WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
      WEBHOOK_EXTRA_CA_FILE: environment.certificates.caFile,
      NODE_ENV: 'production',
      HOST: '127.0.0.1',
    };
  }

  /** Starts a process of the service as in production, but without its log. */
  async startService(role: Role, env: Record<string, string> = {}): Promise<Server & { startMs: number }> {
    const port = await freePort();
    const startedAt = performance.now();
    const program = [...HEAP_OPTIONS, ...this.environment.nodeOptions, file('dist/main.js')];
    const ownerEnv = role === 'worker' ? this.ownerEnv : {};
    const child = spawn(process.execPath, program, {
      env: { ...this.env, ...ownerEnv, ROLE: role, PORT: String(port), ...env },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const url = `http://127.0.0.1:${port}`;
    const running = await this.environment.adopt(child, untilReady(url));
    return { ...running, url, startMs: performance.now() - startedAt };
  }

  /** Starts the hand-written API server, the upper limit that the service's API is compared with. */
  startApiLimit(): Promise<Server> {
    return this.startServant('bench/limits/api.mts');
  }

  /**
   * Starts the hand-written loop that posts webhooks, the upper limit that the service's worker is compared
   * with.
   */
  startDeliveryLimit(): Promise<Servant<Posting, Posted>> {
    return this.startServant('bench/limits/deliver.mts');
  }

  /** Starts the hand-written server that stores messages and delivers their events with these secrets. */
  startEventLimit(env: Record<string, string> = {}): Promise<Servant<Record<string, string>, object>> {
    return this.startServant('bench/limits/event.mts', env);
  }

  /**
   * Starts a process that deletes an endpoint or recovers its events on command, as the dashboard's backend
   * does.
   */
  startHost(): Promise<Servant<HostCall, HostResult>> {
    return this.startServant('bench/support/host-process.mts');
  }

  /**
   * Starts a process that runs the retention on command: it drops rows that are older than `retentionDays`.
   */
  startRetention(): Promise<Servant<{ retentionDays: number }, { ms: number }>> {
    return this.startServant('bench/support/retention-process.mts', this.ownerEnv);
  }

  private async startServant<Command extends object, Result>(
    script: string,
    env: NodeJS.ProcessEnv = {},
  ): Promise<Servant<Command, Result>> {
    const child = fork(file(script), {
      env: { ...this.env, ...env },
      execArgv: [...process.execArgv, ...this.environment.nodeOptions],
    });
    const ready = nextMessage<{ port: number }>(child);
    const running = await this.environment.adopt(child, ready);
    const { port } = await ready;
    const run = (command: Command) => {
      child.send(command);
      return Promise.race([nextMessage<Result>(child), running.failed]);
    };
    return { ...running, url: `http://127.0.0.1:${port}`, run };
  }

  /**
   * Adds `count` workspaces with `endpointsEach` webhook endpoints each. `group` says how the receiver treats
   * them.
   */
  async addReceiving(
    count: number,
    group: Group,
    endpointsEach = 1,
    conversations?: number,
  ): Promise<Receiving[]> {
    const receiving = newReceiving(count, group, endpointsEach, conversations);
    await addReceiving(this.pool, receiving, this.environment.urlOf);
    return receiving;
  }

  /** Adds an API key for each workspace. */
  async addApiKeys<Workspace extends { id: string }>(workspaces: Workspace[]) {
    const withKeys = workspaces.map((workspace) => withApiKey(workspace));
    await insertApiKeys(this.pool, withKeys);
    return withKeys;
  }

  /** Returns the rows of a statement. */
  async query<Row extends object>(sql: string, parameters: unknown[] = []): Promise<Row[]> {
    const { rows } = await this.pool.query<Row>(sql, parameters);
    return rows;
  }

  /** Returns the first row of a statement. Throws if there is none. */
  async queryOne<Row extends object>(sql: string, parameters: unknown[] = []): Promise<Row> {
    return itemAt(await this.query<Row>(sql, parameters), 0);
  }

  /** Returns the database's time. */
  async now(): Promise<Date> {
    const { now } = await this.queryOne<{ now: Date }>('SELECT clock_timestamp() AS now');
    return now;
  }

  /** Deletes all events and deliveries. */
  async clearEvents(): Promise<void> {
    await this.pool.query(
      `TRUNCATE events, event_queue, parked_events, pending_deliveries, pending_cancellations, webhook_deliveries,
         webhook_attempts`,
    );
  }
}

async function untilReady(url: string): Promise<void> {
  const giveUpAt = performance.now() + READY_WITHIN_MS;
  for (;;) {
    const response = await fetch(`${url}/health/ready`).catch(() => undefined); // refused until it listens
    if (response?.ok) return;
    await response?.body?.cancel();
    if (performance.now() > giveUpAt) throw new LauncherError(`${url} was not ready in time.`);
    await sleep(10);
  }
}

function withPath(address: string, path: string): string {
  const url = new URL(address);
  url.pathname = `/${path}`;
  return url.href;
}
