import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { Redis } from 'ioredis';
import { HEAP_OPTIONS, runCli } from '../../scripts/app.mjs';
import { makeCertificates } from '../../scripts/certificates.mjs';
import { freePort, LauncherError, sleep } from '../../scripts/processes.mjs';
import { startServers } from '../../scripts/servers.mjs';
import { makeRoles } from '../../scripts/servers/roles.mjs';
import { addReceiving, fill, insertApiKeys } from './fill.mjs';
import { makeFixture, newReceiving, withApiKey } from './fixture.mjs';
import { startReceiver } from './receiver.mjs';
import { POOL_SIZE, SECRETS_KEYS } from './settings.mjs';

const file = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const READY_WITHIN_MS = 30_000;

/**
 * PostgreSQL (with fsync), Redis, a receiver of webhooks, another for those of neighbours, and processes of the service and its limits. The reaper ends
 * all of them after this process.
 */
export class Environment {
  static async start(log) {
    const servers = await startServers({ disposable: false, onLog: log });
    const folder = mkdtempSync(join(tmpdir(), 'messaging-bench-'));
    servers.reaper.removeAtEnd(folder);
    const environment = new Environment(servers, log);
    environment.certificates = await makeCertificates(folder, ['localhost', '127.0.0.1']);
    environment.receiver = await startReceiver(servers.reaper, environment.certificates);
    environment.neighbours = await startReceiver(servers.reaper, environment.certificates);
    return environment;
  }

  /** @type {Map<string, Promise<Deployment>>} */
  filled = new Map();
  /** @type {Deployment[]} */
  deployments = [];
  /** A function for each process, which stops it. @type {Set<() => Promise<void>>} */
  running = new Set();
  /** Node's options for the measured processes. @type {string[]} */
  nodeOptions = [];

  constructor(servers, log) {
    this.servers = servers;
    this.log = log;
    this.admin = new pg.Pool({ connectionString: servers.databaseAdminUrl, max: 1 });
    this.admin.on('error', () => undefined); // its server ends first
  }

  /** The URL of an endpoint. What is not measured has a receiver of its own, so that it delays no arrival. */
  urlOf = (/** @type {string} */ path) => {
    const { port } = path.startsWith('/live/') ? this.receiver : this.neighbours;
    return `https://127.0.0.1:${port}${path}`;
  };

  /** Made on first use. */
  deployment(name, sizes) {
    if (!this.filled.has(name)) this.filled.set(name, this.fill(name, sizes));
    return this.filled.get(name);
  }

  async fill(name, sizes) {
    this.log(`Filling the ${name} database: ${sizes.conversations} conversations`);
    const startedAt = performance.now();
    const deployment = new Deployment(this, `messaging_bench_${process.pid}_${name}`, makeFixture(sizes));
    this.deployments.push(deployment);
    await this.admin.query(`CREATE DATABASE ${deployment.database}`);
    if (deployment.ownerEnv) await makeRoles(deployment.databaseAdminUrl);
    await runCli(['migrate'], { ...deployment.env, ...deployment.ownerEnv });
    await fill(deployment.pool, deployment.fixture, sizes, this.urlOf);
    this.log(`  took ${Math.round((performance.now() - startedAt) / 1000)} s`);
    return deployment;
  }

  /** Waits until a process is ready. The reaper ends it with this process. */
  async adopt(child, ready) {
    const { reaper } = this.servers;
    reaper.adopt(child, 'SIGTERM');
    const exited = once(child, 'exit');
    const failed = exited.then(([code, signal]) => {
      throw new LauncherError(`A process ended by itself (${signal ?? `exit code ${code}`}).`);
    });
    failed.catch(() => undefined); // no unhandled rejection after `stop`
    const stop = async () => {
      this.running.delete(stop);
      child.kill('SIGTERM');
      await exited;
      reaper.release(child);
    };
    this.running.add(stop);
    await Promise.race([ready, failed]);
    return { pid: child.pid, stop, failed };
  }

  /** Ends the processes of all deployments. */
  async stopProcesses() {
    await Promise.all([...this.running].map((stop) => stop()));
  }

  async redisVersion() {
    const redis = new Redis(this.servers.redisUrl);
    const info = await redis.info('server');
    redis.disconnect();
    return /redis_version:(\S+)/.exec(info)?.[1] ?? 'unknown';
  }

  async stop() {
    await this.servers.stop();
    // Leave nothing on servers that others run.
    if (!this.servers.embedded)
      for (const { database } of this.deployments)
        await this.admin.query(`DROP DATABASE IF EXISTS ${database} WITH (FORCE)`);
  }
}

/** A filled database, a Redis database, and the processes that use them. */
export class Deployment {
  constructor(environment, database, fixture) {
    this.environment = environment;
    this.database = database;
    this.fixture = fixture;
    const { databaseUrl, databaseOwnerUrl, databaseAdminUrl } = environment.servers;
    this.databaseUrl = withPath(databaseUrl, database);
    this.databaseAdminUrl = withPath(databaseAdminUrl, database);
    this.ownerEnv = databaseOwnerUrl && { DATABASE_OWNER_URL: withPath(databaseOwnerUrl, database) };
    this.redisUrl = withPath(environment.servers.redisUrl, String(environment.deployments.length + 1));
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
      WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
      WEBHOOK_EXTRA_CA_FILE: environment.certificates.caFile,
      NODE_ENV: 'production',
      HOST: '127.0.0.1',
    };
  }

  /**
   * Starts a process of the service as in production, but without its log.
   *
   * @param {'api' | 'worker'} role
   * @param {Record<string, string>} env
   */
  async startService(role, env = {}) {
    const port = await freePort();
    const startedAt = performance.now();
    const child = spawn(
      process.execPath,
      [...HEAP_OPTIONS, ...this.environment.nodeOptions, file('dist/main.js')],
      {
        env: {
          ...this.env,
          ...(role === 'worker' && this.ownerEnv),
          ROLE: role,
          PORT: String(port),
          ...env,
        },
        stdio: ['ignore', 'ignore', 'inherit'],
      },
    );
    const url = `http://127.0.0.1:${port}`;
    const adopted = await this.environment.adopt(child, untilReady(url));
    return { ...adopted, url, startMs: performance.now() - startedAt };
  }

  /** @param {string} script of `bench/limits` */
  startLimit(script) {
    return this.startScript(`bench/limits/${script}`);
  }

  /** Starts a backend of the dashboard. Each call names a service, a method and its parameters. */
  async startHost() {
    const { measure, stop } = await this.startScript('bench/support/host-process.mjs');
    return { stop, call: (service, method, ...parameters) => measure({ service, method, parameters }) };
  }

  /** Starts a process that drops days of the history, and deletes rows, older than the number of days it is given. */
  async startRetention() {
    const { measure, stop } = await this.startScript('bench/support/retention-process.mjs', this.ownerEnv);
    return { stop, run: (retentionDays) => measure({ retentionDays }) };
  }

  async startScript(script, env = {}) {
    const child = fork(file(script), {
      env: { ...this.env, ...env },
      execArgv: this.environment.nodeOptions,
    });
    const ready = once(child, 'message');
    const adopted = await this.environment.adopt(child, ready);
    const [{ port }] = await ready;
    const measure = async (options) => {
      child.send(options);
      const [result] = await Promise.race([once(child, 'message'), adopted.failed]);
      return result;
    };
    return { ...adopted, url: `http://127.0.0.1:${port}`, measure };
  }

  /**
   * Adds workspaces that get webhooks, one endpoint each or more.
   *
   * @param {Parameters<typeof newReceiving>[1]} group of the endpoints
   */
  async addReceiving(count, group, endpointsEach = 1) {
    const receiving = newReceiving(count, group, endpointsEach);
    await addReceiving(this.pool, receiving, this.environment.urlOf);
    return receiving;
  }

  /** Lets workspaces call the API. */
  async addApiKeys(workspaces) {
    const withKeys = workspaces.map(withApiKey);
    await insertApiKeys(this.pool, withKeys);
    return withKeys;
  }

  async query(sql, parameters) {
    const { rows } = await this.pool.query(sql, parameters);
    return rows;
  }

  /** Deletes all events and deliveries. */
  async clearEvents() {
    await this.pool.query(
      `TRUNCATE events, event_queue, parked_events, pending_deliveries, pending_cancellations, webhook_deliveries,
         webhook_attempts`,
    );
  }
}

async function untilReady(url) {
  const giveUpAt = performance.now() + READY_WITHIN_MS;
  for (;;) {
    const response = await fetch(`${url}/health/ready`).catch(() => undefined); // refused until it listens
    if (response?.ok) return;
    await response?.body?.cancel();
    if (performance.now() > giveUpAt) throw new LauncherError(`${url} was not ready in time.`);
    await sleep(10);
  }
}

function withPath(address, path) {
  const url = new URL(address);
  url.pathname = `/${path}`;
  return url.href;
}
