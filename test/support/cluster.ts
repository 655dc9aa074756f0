import { ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { Role } from '../../src/config/settings';
import { ownerOf, TestStores } from './test-database';

const MAIN = resolve(__dirname, '../../dist/main.js');

/** One process of the built service. */
interface Member {
  process: ChildProcess;
  url: string;
}

/**
 * Two API processes and two workers over one database and Redis, as in production. `npm run test:cluster`
 * runs the end-to-end tests against it.
 */
export class Cluster {
  private constructor(private readonly members: Member[]) {}

  /**
   * Starts the processes.
   * @param env the environment of each process, without `ROLE` and `PORT`, which are set here
   */
  static async start(stores: TestStores, env: Record<string, string>): Promise<Cluster> {
    const roles: Role[] = ['api', 'api', 'worker', 'worker'];
    return new Cluster(
      await Promise.all(
        roles.map((role) => startMember({ ...env, ...ownerOf(stores, role), ROLE: role, PORT: '0' })),
      ),
    );
  }

  /** Base URLs of the API processes. */
  get apiUrls(): string[] {
    return this.members.slice(0, 2).map(({ url }) => url);
  }

  async stop(): Promise<void> {
    await Promise.all(
      this.members.map(async ({ process }) => {
        process.kill('SIGTERM');
        await once(process, 'exit');
      }),
    );
  }
}

async function startMember(env: Record<string, string>): Promise<Member> {
  const child = spawn(process.execPath, [MAIN], {
    env: { PATH: process.env['PATH'], ...env, LOG_LEVEL: 'info' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout });
  for await (const line of lines) {
    const { msg, port } = JSON.parse(line) as { msg: string; port: number };
    if (msg !== 'listening') continue;
    child.stdout.resume();
    return { process: child, url: `http://127.0.0.1:${port}` };
  }
  throw new Error(`A process with ROLE=${env['ROLE']} did not start`);
}
