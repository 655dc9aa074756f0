import { readdirSync, readFileSync } from 'node:fs';

/** Linux counts a process's time in hundredths of a second. */
const TICK_MS = 10;

/** Processor time that a process has used. */
export function processorMs(pid) {
  const [, user, system] = timesOf(pid);
  return user + system;
}

/** Resident memory. */
export function residentMb(pid) {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(kilobytes) / 1024;
}

/**
 * Starts to measure processor time.
 * @returns ends it: microseconds of the worker and, if it runs here, of PostgreSQL for each of `count` deliveries, and the
 *   idle share of the busiest core
 */
export async function usageMeter(deployment, worker) {
  const server = await serverOf(deployment);
  const before = {
    worker: processorMs(worker.pid),
    postgres: server && familyMs(server),
    cores: coreTimes(),
  };
  return (count) => {
    const perDelivery = (from, to) => ((to - from) * 1000) / count;
    const idle = coreTimes().map(([idle, all], core) => {
      const [idleBefore, allBefore] = before.cores[core];
      return (idle - idleBefore) / (all - allBefore);
    });
    return {
      workerUs: perDelivery(before.worker, processorMs(worker.pid)),
      ...(server && { postgresUs: perDelivery(before.postgres, familyMs(server)) }),
      idle: Math.min(...idle),
    };
  };
}

/**
 * Processor time that PostgreSQL has used, in all of its processes.
 * @returns null when it runs on another machine
 */
export async function postgresMs(deployment) {
  const server = await serverOf(deployment);
  return server && familyMs(server);
}

/** @returns the process that started PostgreSQL's others; null when it runs on another machine */
async function serverOf(deployment) {
  const [{ pid }] = await deployment.query('SELECT pg_backend_pid() AS pid');
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim() === 'postgres' ? timesOf(pid)[0] : null;
  } catch (error) {
    if (error.code === 'ENOENT') return null;
    throw error;
  }
}

/** Processor time of a process and of all that it has started, also of those that have ended. */
function familyMs(parent) {
  let sum = timesOf(parent)
    .slice(1)
    .reduce((all, ms) => all + ms);
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      if (timesOf(pid)[0] === parent) sum += processorMs(pid);
    } catch (error) {
      if (error.code !== 'ENOENT' && error.code !== 'ESRCH') throw error; // it has ended meanwhile
    }
  }
  return sum;
}

/** @returns the parent's id, and milliseconds: user, system, and both of children that have ended */
function timesOf(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The fields begin after the name, which is in brackets and may hold anything.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return [Number(fields[1]), ...fields.slice(11, 15).map((ticks) => Number(ticks) * TICK_MS)];
}

/** Idle time, waiting for a disk included, and all time of each core. @returns {[number, number][]} */
function coreTimes() {
  const lines = readFileSync('/proc/stat', 'utf8').match(/^cpu\d+ .*$/gm);
  return lines.map((line) => {
    const ticks = line.split(/\s+/).slice(1, 9).map(Number);
    return [ticks[3] + ticks[4], ticks.reduce((all, part) => all + part)];
  });
}
