import { readdirSync, readFileSync } from 'node:fs';
import { codeOf, LauncherError } from '../../scripts/processes.mjs';
import type { Deployment } from './deployment.mts';

/** Length of a tick in milliseconds, the unit in which Linux counts a process's time. */
const TICK_MS = 10;

/** Throws unless this is Linux: a benchmark reads times and memory of processes from /proc. */
export function requireLinux(): void {
  if (process.platform !== 'linux')
    throw new LauncherError('The benchmarks need Linux: they read times and memory of processes from /proc.');
}

/** Returns the milliseconds of processor time that a process has used. */
export function processorMs(pid: number): number {
  const { user, system } = timesOf(pid);
  return user + system;
}

/** Returns how often a process has written to its sockets and files. */
export function writesOf(pid: number): number {
  return Number(/^syscw: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1]);
}

/** Returns the resident memory of a process in megabytes. */
export function residentMb(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes) / 1024;
}

/**
 * Microseconds of processor time a delivery, and the share of time (0 to 1) in which the busiest core was
 * idle.
 */
export interface Usage {
  workerUs: number;
  /** Missing if PostgreSQL runs on another machine, where its time can't be read. */
  postgresUs?: number;
  idle: number;
}

/**
 * Starts to measure processor time. The returned function ends it: it takes the number of deliveries in
 * between.
 */
export async function usageMeter(
  deployment: Deployment,
  worker: { pid: number },
): Promise<(count: number) => Usage> {
  const postgres = await postgresMeter(deployment);
  const before = { worker: processorMs(worker.pid), postgres: postgres(), cores: coreTimes() };
  return (count) => {
    const perDelivery = (from: number, to: number) => ((to - from) * 1000) / count;
    const idle = coreTimes().map((now, core) => {
      const then = before.cores[core]!;
      return (now.idle - then.idle) / (now.all - then.all);
    });
    const after = postgres();
    return {
      workerUs: perDelivery(before.worker, processorMs(worker.pid)),
      ...(before.postgres !== null && after !== null && { postgresUs: perDelivery(before.postgres, after) }),
      idle: Math.min(...idle),
    };
  };
}

/**
 * Returns the milliseconds of processor time that PostgreSQL has used, in all of its processes; null if it
 * runs on another machine.
 */
export async function postgresMs(deployment: Deployment): Promise<number | null> {
  return (await postgresMeter(deployment))();
}

/** Returns a function that measures as `postgresMs` does, without a query each time. */
async function postgresMeter(deployment: Deployment): Promise<() => number | null> {
  const server = await serverOf(deployment);
  return () => (server === null ? null : familyMs(server));
}

/** Returns the process id of PostgreSQL's parent process; null if it runs on another machine. */
async function serverOf(deployment: Deployment): Promise<number | null> {
  const { pid } = await deployment.queryOne<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim() === 'postgres' ? parentOf(pid) : null;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}

/**
 * Returns the milliseconds of processor time of a process and of all its children, also of those that have
 * ended.
 */
export function familyMs(parent: number): number {
  const { user, system, endedUser, endedSystem } = timesOf(parent);
  const children = childrenOf(parent).map((pid) => ifRunning(() => processorMs(pid)) ?? 0);
  return children.reduce((sum, ms) => sum + ms, user + system + endedUser + endedSystem);
}

/** Returns the ids of a process's children. */
export function childrenOf(parent: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => ifRunning(() => parentOf(pid)) === parent);
}

/** Returns the id of a process's parent. */
export function parentOf(pid: number): number {
  return timesOf(pid).parent;
}

/** Returns the value that `read` reads of a process; undefined if the process has ended. */
export function ifRunning<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes(codeOf(error) ?? '')) return undefined;
    throw error;
  }
}

/** Parent's id of a process, and milliseconds of processor time of the process and of its ended children. */
interface ProcessTimes {
  parent: number;
  user: number;
  system: number;
  endedUser: number;
  endedSystem: number;
}

function timesOf(pid: number): ProcessTimes {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The fields begin after the name, which is in brackets and may hold anything.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ms = (field: number) => Number(fields[field]) * TICK_MS;
  return {
    parent: Number(fields[1]),
    user: ms(11),
    system: ms(12),
    endedUser: ms(13),
    endedSystem: ms(14),
  };
}

/** Returns each core's idle time, waiting for a disk included, and all of its time, in ticks. */
export function coreTimes(): { idle: number; all: number }[] {
  const lines = readFileSync('/proc/stat', 'utf8').match(/^cpu\d+ .*$/gm) ?? [];
  return lines.map((line) => {
    const ticks = line.split(/\s+/).slice(1, 9).map(Number);
    return { idle: ticks[3]! + ticks[4]!, all: ticks.reduce((all, part) => all + part) };
  });
}
