import { AttemptOutcome } from '../sending/attempt-outcome';
import {
  addAttempt,
  addCounts,
  AttemptCounts,
  countOf,
  noAttempts,
  OUTCOMES,
  percentile,
} from './attempt-counts';

function counted(...attempts: [durationMs: number, error?: AttemptOutcome['error']][]): AttemptCounts {
  const counts = noAttempts();
  for (const [durationMs, error = null] of attempts)
    addAttempt(counts, { durationMs, error } as AttemptOutcome);
  return counts;
}

describe('counts of attempts', () => {
  it('keep the positions of the outcomes, which are stored', () => {
    const known = ['succeeded', 'timeout', 'dns', 'address_refused', 'connect', 'tls', 'connection'];
    expect(OUTCOMES.slice(0, 10)).toEqual([...known, 'redirect', 'status', 'internal']);
  });

  it.each(OUTCOMES)('tell %s from the others', (outcome) => {
    const counts = counted([5], [5, 'timeout'], [5, outcome === 'succeeded' ? null : outcome]);
    const expected = { succeeded: 1, timeout: 1, [outcome]: 1 };
    if (outcome === 'succeeded' || outcome === 'timeout') expected[outcome] = 2;
    for (const one of OUTCOMES) expect(countOf(counts, one)).toBe(expected[one as 'succeeded'] ?? 0);
  });

  it.each([0, 0.3, 1, 2, 17, 99, 100, 812, 4_999, 10_000])('place %d ms a fifth too high at most', (ms) => {
    const p95 = percentile(counted([ms]), 0.95)!;
    expect(p95).toBeGreaterThanOrEqual(Math.floor(ms));
    expect(p95).toBeLessThanOrEqual(Math.max(1, Math.ceil(ms * 1.2)));
  });

  it('find the slowest twentieth', () => {
    const fast = Array.from({ length: 95 }, (): [number] => [10]);
    const slow = Array.from({ length: 5 }, (): [number] => [2_000]);
    expect(percentile(counted(...fast, ...slow), 0.95)).toBeLessThan(13);
    expect(percentile(counted(...fast, ...slow, [2_000]), 0.95)).toBeGreaterThanOrEqual(2_000);
    expect(percentile(noAttempts(), 0.95)).toBeNull();
  });

  it('add up, also of different lengths', () => {
    const sum = counted([3]);
    addCounts(sum, { outcomes: [2, 5], durations: counted([9_000]).durations });
    expect([countOf(sum, 'succeeded'), countOf(sum, 'timeout'), countOf(sum, 'dns')]).toEqual([3, 5, 0]);
    expect(percentile(sum, 1)).toBeGreaterThanOrEqual(9_000);
  });
});
