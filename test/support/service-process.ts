import { ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { Role } from '../../src/config/settings';
import { databaseOf, fileFolderOf, ownerOf, setting, TestStores } from './test-database';
import { stopAtEnd } from './stop-at-end';

const MAIN = resolve(__dirname, '../../dist/main.js');

interface StartOptions {
  /** File for the process's log once it listens. */
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
    FILE_STORE_DIRECTORY: fileFolderOf(stores),
    SECRETS_KEYS: `test:${Buffer.alloc(32, 7).toString('base64')}`,
    WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
    WEBHOOK_EXTRA_CA_FILE: setting('TEST_CA_FILE'),
  };
}

/** The built service in a process of its own, which a test can kill. */
export class ServiceProcess {
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;

  private constructor(
    private readonly child: ChildProcess,
    readonly port: number,
  ) {
    this.exited = once(child, 'exit').then(([code, signal]) => ({ code, signal }));
  }

  /** Starts a process. Resolves once it listens. After the tests of the file the process is killed. */
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
      const started = new ServiceProcess(child, port);
      return stopAtEnd(started, () => started.end());
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

  /** Sends a signal, and settles once the process has ended. */
  async end(
    signal: NodeJS.Signals = 'SIGKILL',
  ): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
    this.kill(signal);
    return this.exited;
  }
}
