import { ATTEMPT_ERRORS, AttemptError } from '../sending/attempt-outcome';
import { addCounts, AttemptCounts, countOf, noAttempts, percentile } from './attempt-counts';
import { AttemptRollup, ROLLUP_MS } from './attempt-rollups.repository';

const HOUR_MS = 60 * 60 * 1000;

const PERIODS = {
  '24h': { bucketMs: ROLLUP_MS, lengthMs: 24 * HOUR_MS },
  '7d': { bucketMs: HOUR_MS, lengthMs: 7 * 24 * HOUR_MS },
} as const;

export type TimelinePeriod = keyof typeof PERIODS;

export function isTimelinePeriod(period: string): period is TimelinePeriod {
  return Object.hasOwn(PERIODS, period);
}

export interface TimelineBucket {
  from: Date;
  succeeded: number;
  failed: number;
  /** Numbers of failed attempts by class. Classes without a failure are left out. */
  errors: Partial<Record<AttemptError, number>>;
  /** 95th percentile of durations in milliseconds, up to a fifth too high; null without attempts. */
  p95Ms: number | null;
}

export interface WebhookTimeline {
  period: TimelinePeriod;
  bucketMinutes: number;
  /** Buckets of equal length without a gap, oldest first. The last one has not ended yet. */
  buckets: TimelineBucket[];
}

/** Returns the beginning of a period whose last bucket contains `now` (milliseconds since 1970). */
export function beginOf(period: TimelinePeriod, now: number): Date {
  const { bucketMs, lengthMs } = PERIODS[period];
  return new Date(Math.floor(now / bucketMs) * bucketMs + bucketMs - lengthMs);
}

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
