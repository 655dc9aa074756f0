import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import pg from 'pg';
import { runCli } from '../../scripts/app.mjs';
import { makeCertificates, type Certificates } from '../../scripts/certificates.mjs';
import { LauncherError } from '../../scripts/processes.mjs';
import { startServers, type Servers } from '../../scripts/servers.mjs';
import { makeRoles } from '../../scripts/servers/roles.mjs';
import { DatabaseNodes } from '../../test/support/database-nodes.mjs';
import { Deployment } from './deployment.mts';
import { fill } from './fill.mts';
import { makeFixture } from './fixture.mts';
import { itemAt } from './items.mts';
import type { Sizes } from './plan.mts';
import { startReceiver, type Receiver } from './receiver.mts';
import { requireLinux } from './usage.mts';

/** Started process. `failed` rejects when the process ends without a call of `stop`. */
export interface Running {
  pid: number;
  stop: () => Promise<void>;
  failed: Promise<never>;
}

/** Options of the servers. They keep data as safely as in production. */
type ServerOptions = Omit<Parameters<typeof startServers>[0], 'disposable' | 'onLog'>;

/** Parts of an environment: servers, folder of files, the receivers' certificates, and two receivers. */
interface Parts {
  servers: Servers;
  folder: string;
  certificates: Certificates;
  receiver: Receiver;
  neighbours: Receiver;
  log: (line: string) => void;
}

/**
 * Servers and processes of a benchmark run: PostgreSQL (with fsync), Redis, a webhook receiver for measured
 * endpoints, another for all others, and processes of the service. The reaper ends them all after this
 * process.
 */
export class Environment {
  static async start(log: (line: string) => void, options: ServerOptions = {}): Promise<Environment> {
    requireLinux();
    const servers = await startServers({ ...options, disposable: false, onLog: log });
    const folder = mkdtempSync(join(tmpdir(), 'messaging-bench-'));
    servers.reaper.removeAtEnd(folder);
    const certificates = await makeCertificates(folder, ['localhost', '127.0.0.1']);
    const receiver = await startReceiver(servers.reaper, certificates);
    const neighbours = await startReceiver(servers.reaper, certificates);
    return new Environment({ servers, folder, certificates, receiver, neighbours, log });
  }

  readonly servers: Servers;
  /** Folder that is removed at the end. */
  readonly folder: string;
  readonly certificates: Certificates;
  readonly receiver: Receiver;
  readonly neighbours: Receiver;
  readonly deployments: Deployment[] = [];
  /** Command-line options of Node for the measured processes, such as a profiler's. */
  nodeOptions: string[] = [];
  private readonly log: (line: string) => void;
  private readonly admin: pg.Pool;
  private readonly filled = new Map<string, Promise<Deployment>>();
  /** Functions that stop one running process each. */
  private readonly running = new Set<() => Promise<void>>();

  private constructor({ servers, folder, certificates, receiver, neighbours, log }: Parts) {
    this.servers = servers;
    this.folder = folder;
    this.certificates = certificates;
    this.receiver = receiver;
    this.neighbours = neighbours;
    this.log = log;
    this.admin = new pg.Pool({ connectionString: servers.databaseAdminUrl, max: 1 });
    this.admin.on('error', () => undefined); // its server ends first
  }

  /**
   * Returns the URL of an endpoint's path at a receiver. Endpoints that are not measured have a receiver of
   * their own, so that their requests delay no measured arrival.
   */
  readonly urlOf = (path: string): string => {
    const { port } = path.startsWith('/live/') ? this.receiver : this.neighbours;
    return `https://127.0.0.1:${port}${path}`;
  };

  /**
   * Returns the deployment of a name. The first call makes its database and fills it. On Citus `workers` is
   * the number of nodes beside the coordinator that keep it; default: all.
   */
  deployment(name: string, sizes: Sizes, workers?: number): Promise<Deployment> {
    const filled = this.filled.get(name) ?? this.fill(name, sizes, workers);
    this.filled.set(name, filled);
    return filled;
  }

  private async fill(name: string, sizes: Sizes, workers = Infinity): Promise<Deployment> {
    this.log(`Filling the ${name} database: ${sizes.conversations} conversations`);
    const startedAt = performance.now();
    const deployment = new Deployment(this, `messaging_bench_${process.pid}_${name}`, makeFixture(sizes));
    this.deployments.push(deployment);
    const { databaseNodes, databaseUrl, databaseOwnerUrl = databaseUrl, databaseAdminUrl } = this.servers;
    const roleUrls = [databaseUrl, databaseOwnerUrl, databaseAdminUrl];
    await new DatabaseNodes(databaseNodes.slice(0, 1 + workers), roleUrls).create(deployment.database);
    if (this.servers.databaseOwnerUrl) await makeRoles(deployment.databaseAdminUrl);
    await runCli(['migrate'], { ...deployment.env, ...deployment.ownerEnv });
    await fill(deployment.pool, deployment.fixture, sizes, this.urlOf);
    this.log(`  took ${Math.round((performance.now() - startedAt) / 1000)} s`);
    return deployment;
  }

  /** Waits until a started process is ready, and takes charge of it: the reaper ends it with this process. */
  async adopt(child: ChildProcess, ready: Promise<unknown>): Promise<Running> {
    const { reaper } = this.servers;
    reaper.adopt(child, 'SIGTERM');
    const exited = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
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
    return { pid: child.pid!, stop, failed };
  }

  /** Ends the processes of all deployments. */
  async stopProcesses(): Promise<void> {
    await Promise.all([...this.running].map((stop) => stop()));
  }

  /** Returns the version numbers of PostgreSQL and Redis. */
  async versions(): Promise<{ postgresql: string; redis: string }> {
    const { rows } = await this.admin.query<{ server_version: string }>('SHOW server_version');
    const redis = new Redis(this.servers.redisUrl);
    const info = await redis.info('server');
    redis.disconnect();
    return {
      postgresql: itemAt(rows, 0).server_version,
      redis: /redis_version:(\S+)/.exec(info)?.[1] ?? 'unknown',
    };
  }

  async stop(): Promise<void> {
    await this.servers.stop();
    // Leave nothing on servers that others run.
    if (!this.servers.embedded)
      for (const { database } of this.deployments)
        await this.admin.query(`DROP DATABASE IF EXISTS ${database} WITH (FORCE)`);
  }
}
