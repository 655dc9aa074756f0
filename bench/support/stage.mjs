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
import { fill } from './fill.mjs';
import { makeFixture } from './fixture.mjs';
import { startReceiver } from './receiver.mjs';
import { POOL_SIZE, SECRETS_KEYS } from './settings.mjs';

const file = (/** @type {string} */ path) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const READY_WITHIN_MS = 30_000;

/**
 * What everything plays on: PostgreSQL (with fsync on) and Redis, a receiver of webhooks, and processes of the service
 * and of its limits. It all ends with this process, however that ends.
 */
export class Stage {
  /** @param {(line: string) => void} log */
  static async set(log) {
    const servers = await startServers({ disposable: false, onLog: log });
    const folder = mkdtempSync(join(tmpdir(), 'messaging-bench-'));
    servers.reaper.removeAtEnd(folder);
    const stage = new Stage(servers, log);
    stage.certificates = await makeCertificates(folder, ['localhost', '127.0.0.1']);
    stage.receiver = await startReceiver(servers.reaper, stage.certificates);
    return stage;
  }

  /** @type {Map<string, Promise<Place>>} */
  filled = new Map();
  /** @type {Place[]} */
  places = [];
  /** How each process that runs is stopped. @type {Set<() => Promise<void>>} */
  running = new Set();
  /** What Node is started with for what is measured. @type {string[]} */
  nodeOptions = [];

  constructor(servers, log) {
    this.servers = servers;
    this.log = log;
    this.admin = new pg.Pool({ connectionString: servers.databaseUrl, max: 1 });
    this.admin.on('error', () => undefined); // it ends after its server
  }

  /**
   * A database of its own, filled, with a Redis database beside it. Made when it is first asked for.
   *
   * @param {string} name
   * @param {import('./plan.mjs').Sizes} sizes
   */
  place(name, sizes) {
    if (!this.filled.has(name)) this.filled.set(name, this.fill(name, sizes));
    return this.filled.get(name);
  }

  async fill(name, sizes) {
    this.log(`Filling the ${name} database: ${sizes.conversations} conversations`);
    const startedAt = performance.now();
    const place = new Place(this, `messaging_bench_${process.pid}_${name}`, makeFixture(sizes));
    this.places.push(place);
    await this.admin.query(`CREATE DATABASE ${place.database}`);
    await runCli(['migrate'], place.env);
    await fill(place.pool, place.fixture, sizes, this.receiver.port);
    this.log(`  took ${Math.round((performance.now() - startedAt) / 1000)} s`);
    return place;
  }

  /**
   * Has a process end with this one, and waits until it is ready.
   *
   * @param {import('node:child_process').ChildProcess} child
   * @param {Promise<unknown>} ready
   */
  async adopt(child, ready) {
    const { reaper } = this.servers;
    reaper.adopt(child, 'SIGTERM');
    const exited = once(child, 'exit');
    const failed = exited.then(([code, signal]) => {
      throw new LauncherError(`A process ended by itself (${signal ?? `exit code ${code}`}).`);
    });
    failed.catch(() => undefined); // a wanted end is no failure
    const stop = async () => {
      this.running.delete(stop);
      child.kill('SIGTERM');
      await exited;
      reaper.release(child);
    };
    this.running.add(stop);
    await Promise.race([ready, failed]);
    return { pid: child.pid, stop };
  }

  /** Ends what was started over the places. */
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
    // A server that was there before us keeps nothing of ours.
    if (!this.servers.embedded)
      for (const { database } of this.places)
        await this.admin.query(`DROP DATABASE IF EXISTS ${database} WITH (FORCE)`);
  }
}

/** One filled database, a Redis database, and what runs over them. */
export class Place {
  /**
   * @param {Stage} stage
   * @param {string} database
   * @param {import('./fixture.mjs').Fixture} fixture
   */
  constructor(stage, database, fixture) {
    this.stage = stage;
    this.database = database;
    this.fixture = fixture;
    this.databaseUrl = withPath(stage.servers.databaseUrl, database);
    const redisUrl = withPath(stage.servers.redisUrl, String(stage.places.length + 1));
    this.pool = new pg.Pool({ connectionString: this.databaseUrl, max: POOL_SIZE });
    this.pool.on('error', () => undefined); // it ends after its server
    this.redis = new Redis(redisUrl);
    this.redis.on('error', () => undefined); // the same
    this.env = {
      ...process.env,
      DATABASE_URL: this.databaseUrl,
      DATABASE_POOL_SIZE: String(POOL_SIZE),
      REDIS_URL: redisUrl,
      SECRETS_KEYS,
      WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
      WEBHOOK_EXTRA_CA_FILE: stage.certificates.caFile,
      NODE_ENV: 'production',
      HOST: '127.0.0.1',
    };
  }

  /**
   * Starts a process of the service as it runs in production, but for its log: that goes nowhere.
   *
   * @param {'api' | 'worker'} role
   */
  async startService(role) {
    const port = await freePort();
    const startedAt = performance.now();
    const child = spawn(
      process.execPath,
      [...HEAP_OPTIONS, ...this.stage.nodeOptions, file('dist/main.js')],
      {
        env: { ...this.env, ROLE: role, PORT: String(port) },
        stdio: ['ignore', 'ignore', 'inherit'],
      },
    );
    const url = `http://127.0.0.1:${port}`;
    const adopted = await this.stage.adopt(child, untilReady(url));
    return { ...adopted, url, startMs: performance.now() - startedAt };
  }

  /**
   * Starts one of the limits: a script of `bench/limits`.
   *
   * @param {string} script
   */
  async startLimit(script) {
    const child = fork(file(`bench/limits/${script}`), {
      env: this.env,
      execArgv: this.stage.nodeOptions,
    });
    const ready = once(child, 'message');
    const adopted = await this.stage.adopt(child, ready);
    const [{ port }] = await ready;
    const ask = async (/** @type {object} */ question) => {
      child.send(question);
      const [answer] = await once(child, 'message');
      return answer;
    };
    return { ...adopted, url: `http://127.0.0.1:${port}`, ask };
  }

  async query(sql, parameters) {
    const { rows } = await this.pool.query(sql, parameters);
    return rows;
  }

  /** Forgets all events, and the deliveries made of them. */
  async clearEvents() {
    await this.pool.query('TRUNCATE events, webhook_deliveries, webhook_attempts');
  }
}

async function untilReady(/** @type {string} */ url) {
  const giveUpAt = performance.now() + READY_WITHIN_MS;
  for (;;) {
    const answer = await fetch(`${url}/health/ready`).catch(() => undefined); // refused until it listens
    if (answer?.ok) return;
    await answer?.body?.cancel();
    if (performance.now() > giveUpAt) throw new LauncherError(`${url} was not ready in time.`);
    await sleep(10);
  }
}

function withPath(/** @type {string} */ address, /** @type {string} */ path) {
  const url = new URL(address);
  url.pathname = `/${path}`;
  return url.href;
}
