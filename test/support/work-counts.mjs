import { existsSync, readFileSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { sleep } from '../../scripts/processes.mjs';

const COUNTER = fileURLToPath(new URL('work-counter.cjs', import.meta.url));
const LOOK_EVERY_MS = 20;
/** Longest time in milliseconds that a process may take to write its counts. */
const WRITTEN_WITHIN_MS = 15_000;

/**
 * Work of a process since its start.
 *
 * @typedef {object} WorkCounts
 * @property {number} transactions
 * @property {number} timers
 * @property {number} immediates
 * @property {number} promises
 * @property {number} bytes allocated on the heap
 * @property {Record<'postgres' | 'redis' | 'clients' | 'receivers', number>} writes to sockets, by peer
 * @property {Record<string, number>} statements executions by the text of the statement
 */

/**
 * Work of a process for one event. None of it depends on the machine.
 *
 * @typedef {object} EventWork
 * @property {number} statements
 * @property {number} transactions
 * @property {number} writes to the sockets of all peers
 * @property {number} roundTrips writes to PostgreSQL and Redis, each of which waits for an answer
 * @property {number} timers
 * @property {number} promises
 * @property {number} bytes allocated on the heap
 */

/**
 * Returns the environment variables of a process of Node that counts its work.
 *
 * @param {string} file into which the process writes its counts
 */
export function countingEnvironment(file) {
  return { NODE_OPTIONS: `--require ${COUNTER}`, WORK_COUNTS: file };
}

/**
 * Returns the counts since the start of a process.
 *
 * @param {number} pid
 * @param {string} file of the process's `countingEnvironment`
 * @returns {Promise<WorkCounts>}
 */
export async function readCounts(pid, file) {
  rmSync(file, { force: true });
  process.kill(pid, 'SIGUSR2');
  for (let waitedMs = 0; !existsSync(file); waitedMs += LOOK_EVERY_MS) {
    if (waitedMs > WRITTEN_WITHIN_MS) throw new Error(`Process ${pid} has not written its counts`);
    await sleep(LOOK_EVERY_MS);
  }
  return JSON.parse(readFileSync(file, 'utf8'));
}

/**
 * Counts the work of some processes for one event: their work while `work` runs, without that of the same
 * time at rest, which follows.
 *
 * @param {() => Promise<WorkCounts[]>} read returns the counts of each process
 * @param {() => Promise<number>} work returns the number of its events
 * @returns {Promise<{ each: EventWork[], begin: WorkCounts[], end: WorkCounts[] }>} the work of each process,
 *   and the counts before and after `work`
 */
export async function countEventWork(read, work) {
  const begin = await read();
  const startedAt = performance.now();
  const events = await work();
  const workedMs = performance.now() - startedAt;
  const end = await read();
  const restedFrom = performance.now();
  await sleep(workedMs);
  const restShare = workedMs / (performance.now() - restedFrom);
  const rested = await read();
  const each = begin.map((before, n) => {
    const [after, atRest] = [end[n], rested[n]];
    if (!after || !atRest) throw new Error('a process has no counts');
    /** @param {(counts: WorkCounts) => number} figure */
    const of = (figure) =>
      (figure(after) - figure(before) - (figure(atRest) - figure(after)) * restShare) / events;
    return {
      statements: of(({ statements }) => sumOf(statements)),
      transactions: of(({ transactions }) => transactions),
      writes: of(({ writes }) => sumOf(writes)),
      roundTrips: of(({ writes }) => writes.postgres + writes.redis),
      timers: of(({ timers }) => timers),
      promises: of(({ promises }) => promises),
      bytes: of(({ bytes }) => bytes),
    };
  });
  return { each, begin, end };
}

/** @param {Record<string, number>} counts */
function sumOf(counts) {
  return Object.values(counts).reduce((all, one) => all + one, 0);
}
