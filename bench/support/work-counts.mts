import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { countEventWork, countingEnvironment, readCounts } from '../../test/support/work-counts.mjs';
import type { EventWork } from '../../test/support/work-counts.mjs';
import type { Deployment } from './deployment.mts';

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
    return this.files.map(countingEnvironment);
  }

  /**
   * Counts the work while `work` runs, which returns the number of its events, beyond that at rest.
   * @returns the work of one event by role
   */
  async count(pids: number[], work: () => Promise<number>): Promise<Record<string, EventWork>> {
    const read = () => Promise.all(pids.map((pid, n) => readCounts(pid, this.files[n]!)));
    const { each } = await countEventWork(read, work);
    return Object.fromEntries(this.roles.map((role, n) => [role, each[n]!]));
  }
}
