import { setTimeout as sleep } from 'node:timers/promises';

const STEP_MS = 20;
/** Milliseconds that one step counts at most, because a machine that stood still did nothing in that time. */
const MAX_COUNTED_MS = 1_000;
/**
 * Time that a test waits. It is shorter than a lease (20 s), so that no test passes only because a lease has
 * ended.
 */
const TIMEOUT_MS = 15_000;

type Asked<T> = T | undefined | null | false | 0;

/**
 * Repeats a question until the answer is not undefined, null, false or 0. The error of a time-out has the
 * name `what`.
 */
export async function waitFor<T>(
  what: string,
  ask: () => Asked<T> | Promise<Asked<T>>,
  timeoutMs = TIMEOUT_MS,
): Promise<T> {
  let waitedMs = 0;
  for (;;) {
    const begin = performance.now();
    const answer = await ask();
    if (answer !== undefined && answer !== null && answer !== false && answer !== 0) return answer;
    if (waitedMs > timeoutMs) throw new Error(`Waited ${timeoutMs} ms for ${what}`);
    await sleep(STEP_MS);
    waitedMs += Math.min(performance.now() - begin, MAX_COUNTED_MS);
  }
}

/** Waits for a time. Use it only where a test is about passing time: an age, a window, a `Retry-After`. */
export async function letTimePass(ms: number): Promise<void> {
  const end = performance.now() + ms;
  // A timer may fire up to a millisecond early.
  while (performance.now() < end) await sleep(Math.ceil(end - performance.now()));
}

/**
 * Returns a moment later than everything before, and earlier than everything after, by the clock's
 * milliseconds.
 */
export async function moment(): Promise<Date> {
  await letTimePass(2);
  const now = new Date();
  await letTimePass(2);
  return now;
}
