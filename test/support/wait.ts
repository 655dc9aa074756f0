import { setTimeout as sleep } from 'node:timers/promises';

const STEP_MS = 20;

type Asked<T> = T | undefined | null | false;

/** Asks until there is an answer other than undefined, null or false; fails, saying what was waited for. */
export async function waitFor<T>(
  what: string,
  ask: () => Asked<T> | Promise<Asked<T>>,
  timeoutMs = 10_000,
): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && answer !== null && answer !== false) return answer;
    if (Date.now() > deadline) throw new Error(`Waited ${timeoutMs} ms in vain for ${what}`);
    await sleep(STEP_MS);
  }
}
