import { MAX_ATTEMPTS, retryDelayMs } from './retry-schedule';

describe('retryDelayMs', () => {
  const attempts = [1, 2, 3, 4, 5];

  it('doubles from 2 seconds, five times', () => {
    expect(attempts.map((failed) => retryDelayMs(failed, () => 0))).toEqual([2000, 4000, 8000, 16000, 32000]);
  });

  it('adds at most a tenth', () => {
    expect(attempts.map((failed) => retryDelayMs(failed, () => 0.999999))).toEqual([
      2199, 4399, 8799, 17599, 35199,
    ]);
  });

  it('spreads by itself, within its bounds', () => {
    const delays = Array.from({ length: 200 }, () => retryDelayMs(3));
    expect(new Set(delays).size).toBeGreaterThan(1);
    for (const delay of delays) {
      expect(delay).toBeGreaterThanOrEqual(8000);
      expect(delay).toBeLessThan(8800);
    }
  });

  it('ends after the last attempt', () => {
    expect(retryDelayMs(MAX_ATTEMPTS)).toBeNull();
    expect(retryDelayMs(MAX_ATTEMPTS + 1)).toBeNull();
  });

  it.each([0, -1, 1.5, NaN])('refuses %p as a count', (count) => {
    expect(() => retryDelayMs(count)).toThrow(RangeError);
  });
});
