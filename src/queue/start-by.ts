/**
 * Time within which claimed work may start. It is short, so that no work starts after its target was
 * deactivated.
 */
const START_WITHIN_MS = 1_000;

/**
 * Returns the time until which work may start under a claim that is made now, on this process's monotonic
 * clock. Call it before the claim is committed.
 */
export function startByFromNow(): number {
  return performance.now() + START_WITHIN_MS;
}
