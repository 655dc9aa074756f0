import { ATTEMPT_ERRORS, AttemptError } from '../sending/attempt-outcome';
import { addCounts, AttemptCounts, countOf, noAttempts, percentile } from './attempt-counts';
import { AttemptRollup, ROLLUP_MS } from './attempt-rollups.repository';

const HOUR_MS = 60 * 60 * 1000;

/** Each period in buckets of so many milliseconds. */
const PERIODS = {
  '24h': { bucketMs: ROLLUP_MS, lengthMs: 24 * HOUR_MS },
  '7d': { bucketMs: HOUR_MS, lengthMs: 7 * 24 * HOUR_MS },
} as const;

export type TimelinePeriod = keyof typeof PERIODS;

export function isTimelinePeriod(period: string): period is TimelinePeriod {
  return Object.hasOwn(PERIODS, period);
}

/** The attempts that began in a part of a period. */
export interface TimelineBucket {
  from: Date;
  succeeded: number;
  failed: number;
  /** The failed ones by class, but for classes without any. */
  errors: Partial<Record<AttemptError, number>>;
  /** What 95 of 100 attempts took at most, in milliseconds, up to a fifth too high; null without attempts. */
  p95Ms: number | null;
}

/** How an endpoint's attempts went over a period, but for tests. */
export interface WebhookTimeline {
  period: TimelinePeriod;
  /** The length of each bucket. */
  bucketMinutes: number;
  /** Oldest first, without a gap. The last one is not over yet, and lacks its last seconds. */
  buckets: TimelineBucket[];
}

/** When a period that ends now begins. */
export function beginOf(period: TimelinePeriod, now: number): Date {
  const { bucketMs, lengthMs } = PERIODS[period];
  return new Date(Math.floor(now / bucketMs) * bucketMs + bucketMs - lengthMs);
}

/** @param rollups of the period */
export function toTimeline(period: TimelinePeriod, begin: Date, rollups: AttemptRollup[]): WebhookTimeline {
  const { bucketMs, lengthMs } = PERIODS[period];
  const sums = Array.from({ length: lengthMs / bucketMs }, noAttempts);
  for (const rollup of rollups) {
    const sum = sums[Math.floor((rollup.startsAt.getTime() - begin.getTime()) / bucketMs)];
    if (sum) addCounts(sum, rollup);
  }
  const buckets = sums.map((sum, n) => toBucket(new Date(begin.getTime() + n * bucketMs), sum));
  return { period, bucketMinutes: bucketMs / 60_000, buckets };
}

function toBucket(from: Date, counts: AttemptCounts): TimelineBucket {
  const errors: TimelineBucket['errors'] = {};
  let failed = 0;
  for (const error of ATTEMPT_ERRORS) {
    const count = countOf(counts, error);
    if (count > 0) errors[error] = count;
    failed += count;
  }
  return { from, succeeded: countOf(counts, 'succeeded'), failed, errors, p95Ms: percentile(counts, 0.95) };
}
