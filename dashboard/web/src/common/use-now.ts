import { useSyncExternalStore } from 'react';

const STEP_MS = 1_000;

let now = Date.now();
let timer: number | undefined;
const listeners = new Set<() => void>();

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  if (timer === undefined) now = Date.now();
  timer ??= window.setInterval(() => {
    now = Date.now();
    for (const notify of listeners) notify();
  }, STEP_MS);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/**
 * Returns the time in milliseconds since 1970, rounded down to a whole number of steps after `from`. So a
 * distance from `from` that is shown in steps is exact.
 */
export function useNow(stepMs = STEP_MS, from = 0): number {
  return useSyncExternalStore(subscribe, () => Math.floor((now - from) / stepMs) * stepMs + from);
}
