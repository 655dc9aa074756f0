import { backoffMs } from './backoff';

describe('backoffMs', () => {
  it('doubles from one second to thirty', () => {
    const longest = [1, 2, 3, 4, 5, 6, 20].map((failures) => backoffMs(failures, () => 1));
    expect(longest).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
  });

  it('spreads over the upper half', () => {
    expect(backoffMs(3, () => 0)).toBe(2000);
    expect(backoffMs(3, () => 0.5)).toBe(3000);
  });
});
