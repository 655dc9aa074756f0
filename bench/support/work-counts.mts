import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sleep } from '../../scripts/processes.mjs';
import type { WorkCounts } from '../../test/support/counted-process.ts';
import type { Deployment } from './deployment.mts';

const COUNTER = fileURLToPath(new URL('../../test/support/work-counter.cjs', import.meta.url));
const LOOK_EVERY_MS = 20;

/** Work of one process an event, beyond its work at rest. None of it depends on the machine. */
export interface Counts {
  statements: number;
  transactions: number;
  /** Writes to PostgreSQL and Redis, each of which waits for an answer. */
  'round trips': number;
  'socket writes': number;
  timers: number;
  promises: number;
  /** Bytes allocated on the heap. */
  bytes: number;
}

/** Processes that count their work. */
export class CountedProcesses {
  private readonly roles: string[];
  private readonly files: string[];

  constructor({ environment }: Deployment, roles: string[]) {
    const folder = mkdtempSync(join(tmpdir(), 'messaging-counts-'));
    environment.servers.reaper.removeAtEnd(folder);
    this.roles = roles;
    this.files = roles.map((role) => join(folder, `${role}.json`));
  }

  /** Environment variables for each process, in the order of the roles. */
  get environments(): Record<string, string>[] {
    return this.files.map((file) => ({ NODE_OPTIONS: `--require ${COUNTER}`, WORK_COUNTS: file }));
  }

  /**
   * Counts the work while `work` runs, which returns the number of its events, and then for the same time at
   * rest.
   * @returns the work of one event by role
   */
  async count(pids: number[], work: () => Promise<number>): Promise<Record<string, Counts>> {
    const begin = await this.read(pids);
    const startedAt = performance.now();
    const events = await work();
    const worked = await this.read(pids);
    await sleep(performance.now() - startedAt);
    const rested = await this.read(pids);
    const each = (n: number, figure: (counts: WorkCounts) => number) =>
      (2 * figure(worked[n]!) - figure(begin[n]!) - figure(rested[n]!)) / events;
    return Object.fromEntries(
      this.roles.map((role, n): [string, Counts] => [
        role,
        {
          statements: each(n, ({ statements }) => sum(statements)),
          transactions: each(n, ({ transactions }) => transactions),
          'round trips': each(n, ({ writes }) => writes.postgres + writes.redis),
          'socket writes': each(n, ({ writes }) => sum(writes)),
          timers: each(n, ({ timers }) => timers),
          promises: each(n, ({ promises }) => promises),
          bytes: each(n, ({ bytes }) => bytes),
        },
      ]),
    );
  }

  private read(pids: number[]): Promise<WorkCounts[]> {
    return Promise.all(
      pids.map(async (pid, n) => {
        const file = this.files[n]!;
        rmSync(file, { force: true });
        process.kill(pid, 'SIGUSR2');
        while (!existsSync(file)) await sleep(LOOK_EVERY_MS);
        return JSON.parse(readFileSync(file, 'utf8')) as WorkCounts;
      }),
    );
  }
}

function sum(counts: Record<string, number>): number {
  return Object.values(counts).reduce((all, one) => all + one, 0);
}
