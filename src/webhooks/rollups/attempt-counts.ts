import { ATTEMPT_ERRORS, type AttemptError, type AttemptOutcome } from '../sending/attempt-outcome';

/** Outcomes of attempts. Counts are stored by position in this list, so never reorder it. */
export const OUTCOMES: readonly ('succeeded' | AttemptError)[] = ['succeeded', ...ATTEMPT_ERRORS];

/** Ratio of the ends of two successive buckets of durations. The first bucket ends at 1 ms. */
const GROWTH = 1.2;
/** Number of the last bucket, which ends at 10.9 s, because no attempt takes longer. */
const LAST_BUCKET = 51;

/** Numbers of attempts by outcome, and by bucket of the duration. Missing items at the end mean 0. */
export interface AttemptCounts {
  /** Numbers of attempts by the position of their outcome in `OUTCOMES`. */
  outcomes: number[];
  durations: number[];
}

export function noAttempts(): AttemptCounts {
  return { outcomes: OUTCOMES.map(() => 0), durations: [] };
}

export function addAttempt(
  { outcomes, durations }: AttemptCounts,
  { error, durationMs }: AttemptOutcome,
): void {
  const outcome = OUTCOMES.indexOf(error ?? 'succeeded');
  outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  const bucket = bucketOf(durationMs);
  while (durations.length <= bucket) durations.push(0);
  durations[bucket]! += 1;
}

export function addCounts(sum: AttemptCounts, { outcomes, durations }: AttemptCounts): void {
  addEach(sum.outcomes, outcomes);
  addEach(sum.durations, durations);
}

export function countOf({ outcomes }: AttemptCounts, outcome: (typeof OUTCOMES)[number]): number {
  return outcomes[OUTCOMES.indexOf(outcome)] ?? 0;
}

/**
 * Returns the milliseconds that a share of the attempts did not exceed; null without attempts. It is the
 * upper bound of a bucket, so it is up to a fifth too high.
 * @param part share of the attempts, such as 0.95
 */
export function percentile({ durations }: AttemptCounts, part: number): number | null {
  const total = durations.reduce((sum, count) => sum + count, 0);
  let passed = 0;
  for (const [bucket, count] of durations.entries()) {
    passed += count;
    if (count > 0 && passed >= total * part) return Math.round(GROWTH ** bucket);
  }
  return null;
}

function bucketOf(durationMs: number): number {
  if (durationMs <= 1) return 0;
  return Math.min(Math.ceil(Math.log(durationMs) / Math.log(GROWTH)), LAST_BUCKET);
}

function addEach(sums: number[], counts: number[]): void {
  counts.forEach((count, n) => {
    sums[n] = (sums[n] ?? 0) + count;
  });
}
