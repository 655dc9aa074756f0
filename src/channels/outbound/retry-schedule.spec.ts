import { MAX_ATTEMPTS, pauseMs, retryDelayMs } from './retry-schedule';

describe('retry schedule of messages', () => {
  it('doubles from 2 seconds to 128, and then ends', () => {
    const delays = Array.from({ length: MAX_ATTEMPTS }, (_, i) => retryDelayMs(i + 1, 0, () => 0));
    expect(delays).toEqual([2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000, null]);
  });

  it('waits as long as the provider asks for, a day at most, and never less than its own delay', () => {
    expect(retryDelayMs(1, 30_000, () => 0)).toBe(30_000);
    expect(retryDelayMs(4, 5_000, () => 0)).toBe(16_000);
    expect(retryDelayMs(1, 7 * 86_400_000, () => 0)).toBe(86_400_000);
  });

  it('spreads by up to a tenth', () => {
    expect(retryDelayMs(1, 0, () => 0.999999)).toBe(2_199);
  });
});

describe('pause of a connection', () => {
  it('is as long as the provider asks for, from 2 seconds to a day', () => {
    expect([undefined, 500, 30_000, 7 * 86_400_000].map((ms) => pauseMs(ms))).toEqual([
      2_000, 2_000, 30_000, 86_400_000,
    ]);
  });
});
