/** How long a claim allows work to start. It is short, so that none starts after the target was deactivated. */
const START_WITHIN_MS = 1_000;

/**
 * Returns until when work may start under a claim that is made now, on this process's monotonic clock. Call it before the
 * claim is committed.
 */
export function startByFromNow(): number {
  return performance.now() + START_WITHIN_MS;
}
