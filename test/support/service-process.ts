import { ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { Role } from '../../src/config/settings';
import { databaseOf, ownerOf, setting, TestStores } from './test-database';

const MAIN = resolve(__dirname, '../../dist/main.js');

interface StartOptions {
  /** File for what the process logs once it listens. */
  logFile?: string;
  /** Entry point of another build. */
  main?: string;
  /** Limit of the files and sockets that the process may have open. */
  maxOpenFiles?: number;
}

/** Returns the environment of the service's processes and its CLI. */
export function environmentOf(stores: TestStores, role?: Role): Record<string, string> {
  return {
    PATH: process.env.PATH!,
    NODE_ENV: 'test',
    ...databaseOf(stores),
    ...ownerOf(stores, role),
    DATABASE_POOL_SIZE: '5',
    REDIS_URL: stores.redisUrl,
    CROSS_WORKSPACE_BATCHES: process.env.CROSS_WORKSPACE_BATCHES ?? 'true',
    SECRETS_KEYS: `test:${Buffer.alloc(32, 7).toString('base64')}`,
    WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
    WEBHOOK_EXTRA_CA_FILE: setting('TEST_CA_FILE'),
  };
}

/** Processes that have not ended. */
const running = new Set<ServiceProcess>();

/** The built service in a process of its own, which a test can kill. */
export class ServiceProcess {
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;

  private constructor(
    private readonly child: ChildProcess,
    readonly port: number,
  ) {
    running.add(this);
    this.exited = once(child, 'exit').then(([code, signal]) => {
      running.delete(this);
      return { code, signal };
    });
  }

  /** Kills what a test has started and not ended, because it failed, or needs no end. */
  static async killAll(): Promise<void> {
    for (const one of running) one.kill('SIGKILL');
    await Promise.all([...running].map(({ exited }) => exited));
  }

  /** Starts a process. Resolves once it listens. */
  static async start(
    role: Role,
    stores: TestStores,
    env: Record<string, string> = {},
    { logFile = '/dev/null', main = MAIN, maxOpenFiles }: StartOptions = {},
  ): Promise<ServiceProcess> {
    const limit = maxOpenFiles === undefined ? '' : `ulimit -n ${maxOpenFiles} && `;
    const child = spawn('sh', ['-c', `${limit}exec "$0" "$1"`, process.execPath, main], {
      env: { ...environmentOf(stores, role), ROLE: role, HOST: '127.0.0.1', PORT: '0', ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    for await (const line of createInterface({ input: child.stdout })) {
      const { msg, port } = JSON.parse(line) as { msg: string; port: number };
      if (msg !== 'listening') continue;
      child.stdout.pipe(createWriteStream(logFile));
      return new ServiceProcess(child, port);
    }
    throw new Error('The service ended before it listened');
  }

  get pid(): number {
    return this.child.pid!;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  kill(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }
}
