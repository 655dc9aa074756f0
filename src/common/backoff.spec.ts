import { backoffMs } from './backoff';

describe('backoffMs', () => {
  it('doubles from 2 seconds', () => {
    const delays = [1, 2, 3, 4, 5].map((failures) => backoffMs(failures, 0, () => 0));
    expect(delays).toEqual([2_000, 4_000, 8_000, 16_000, 32_000]);
  });

  it('is at least as long as asked for', () => {
    expect(backoffMs(1, 30_000, () => 0)).toBe(30_000);
    expect(backoffMs(4, 5_000, () => 0)).toBe(16_000);
  });

  it('adds at most a tenth', () => {
    expect(backoffMs(1, 0, () => 0.999999)).toBe(2_199);
    expect(backoffMs(5, 0, () => 0.999999)).toBe(35_199);
    expect(backoffMs(1, 30_000, () => 0.999999)).toBe(32_999);
  });

  it('spreads by itself, within its bounds', () => {
    const delays = Array.from({ length: 200 }, () => backoffMs(3));
    expect(new Set(delays).size).toBeGreaterThan(1);
    for (const delay of delays) {
      expect(delay).toBeGreaterThanOrEqual(8_000);
      expect(delay).toBeLessThan(8_800);
    }
  });

  it.each([0, -1, 1.5, NaN])('refuses %p as a count', (count) => {
    expect(() => backoffMs(count)).toThrow(RangeError);
  });
});
