import { mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { codeOf } from '../../scripts/processes.mjs';
import { childrenOf, coreTimes, ifRunning } from '../support/usage.mts';

/** Functions that return the milliseconds of processor time of one part each, by the part's name. */
export type Clocks = Record<string, () => number>;

/** Cores that each part used in `seconds`, and the share (0 to 1) of the machine's that was idle. */
export interface Use {
  seconds: number;
  cores: Record<string, number>;
  idle: number;
}

/** Measures the processor time that parts use while `work` runs. */
export async function processorUse(clocks: Clocks, work: () => Promise<unknown>): Promise<Use> {
  const read = () => ({
    at: performance.now(),
    cores: coreTimes(),
    ms: Object.values(clocks).map((ms) => ms()),
  });
  const before = read();
  await work();
  const after = read();
  const ms = after.at - before.at;
  const spent = (kind: 'idle' | 'all') =>
    after.cores.reduce((sum, core, n) => sum + core[kind] - before.cores[n]![kind], 0);
  const used = Object.keys(clocks).map((name, n): [string, number] => [
    name,
    (after.ms[n]! - before.ms[n]!) / ms,
  ]);
  return { seconds: ms / 1000, cores: Object.fromEntries(used), idle: spent('idle') / spent('all') };
}

/** Folder of Linux's control groups for processor time, in their first version. */
const GROUPS = '/sys/fs/cgroup/cpu';
const PERIOD_US = 100_000;
const groupOf = (server: number) => `${GROUPS}/messaging-bench-${server}`;
const grouped = new Set<number>();

/**
 * Holds the processes of a PostgreSQL server to a share of one core; null lets them have all.
 *
 * @returns false where this machine does not let us
 */
export function hold(server: number, share: number | null): boolean {
  const group = groupOf(server);
  try {
    if (!grouped.has(server)) mkdirSync(group);
  } catch (error) {
    if (['ENOENT', 'EACCES', 'EROFS'].includes(codeOf(error) ?? '')) return false;
    throw error;
  }
  grouped.add(server);
  writeFileSync(`${group}/cpu.cfs_period_us`, String(PERIOD_US));
  writeFileSync(`${group}/cpu.cfs_quota_us`, String(share === null ? -1 : Math.round(share * PERIOD_US)));
  // Processes that it starts later are in its group, too.
  for (const pid of [server, ...childrenOf(server)])
    ifRunning(() => writeFileSync(`${group}/cgroup.procs`, String(pid)));
  return true;
}

/** Removes the groups, once the servers have ended. */
export function removeGroups(): void {
  for (const server of grouped) rmdirSync(groupOf(server));
}
