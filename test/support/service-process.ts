import { ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { Role } from '../../src/config/environment';
import { setting, TestStores } from './test-database';

const MAIN = resolve(__dirname, '../../dist/main.js');

/** The built service in a process of its own, to be killed. */
export class ServiceProcess {
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;

  private constructor(
    private readonly child: ChildProcess,
    readonly port: number,
  ) {
    this.exited = once(child, 'exit').then(([code, signal]) => ({ code, signal }));
  }

  /** Resolves once it listens. */
  static async start(
    role: Role,
    { databaseUrl, redisUrl }: TestStores,
    env: Record<string, string> = {},
  ): Promise<ServiceProcess> {
    const child = spawn(process.execPath, [MAIN], {
      env: {
        PATH: process.env.PATH,
        NODE_ENV: 'test',
        ROLE: role,
        HOST: '127.0.0.1',
        PORT: '0',
        DATABASE_URL: databaseUrl,
        DATABASE_POOL_SIZE: '5',
        REDIS_URL: redisUrl,
        SECRETS_KEYS: `test:${Buffer.alloc(32, 7).toString('base64')}`,
        WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
        WEBHOOK_EXTRA_CA_FILE: setting('TEST_CA_FILE'),
        ...env,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    for await (const line of createInterface({ input: child.stdout })) {
      const { msg, port } = JSON.parse(line) as { msg: string; port: number };
      if (msg !== 'listening') continue;
      child.stdout.resume();
      return new ServiceProcess(child, port);
    }
    throw new Error('The service ended before it listened');
  }

  kill(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }
}
