/** Milliseconds between two checks of the deadlines. */
const CHECK_MS = 50;

interface Deadline {
  /** Time of `performance.now()` one check before the deadline. */
  at: number;
  onPassed: () => void;
}

const open = new Set<Deadline>();
let checks: NodeJS.Timeout | undefined;
let checkedAt = 0;
let isUsed = false;

/**
 * Calls `onPassed` after `ms` milliseconds, or up to 50 more, unless the returned function is called before.
 * All deadlines of the process share one timer, because most are cancelled. It does not keep the process
 * alive.
 */
export function startDeadline(ms: number, onPassed: () => void): () => void {
  const deadline = { at: performance.now() + ms - CHECK_MS, onPassed };
  open.add(deadline);
  isUsed = true;
  checks ??= setInterval(check, CHECK_MS).unref();
  return () => open.delete(deadline);
}

/**
 * Calls back for the deadlines whose `at` had passed at the last check. The event loop has read its sockets
 * since, so that an answer that arrived while the loop was blocked still counts.
 */
function check(): void {
  for (const deadline of open) {
    if (deadline.at > checkedAt) continue;
    open.delete(deadline);
    deadline.onPassed();
  }
  checkedAt = performance.now();
  if (open.size === 0 && !isUsed) {
    clearInterval(checks);
    checks = undefined;
  }
  isUsed = false;
}
