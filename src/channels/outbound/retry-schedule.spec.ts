import { MAX_MESSAGE_ATTEMPTS, pauseMs, messageRetryDelayMs } from './retry-schedule';

describe('the retry schedule of outbound messages', () => {
  it('doubles from 2 to 128 seconds, then ends', () => {
    const delays = Array.from({ length: MAX_MESSAGE_ATTEMPTS }, (_, i) =>
      messageRetryDelayMs(i + 1, 0, () => 0),
    );
    expect(delays).toEqual([2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000, null]);
  });

  it('follows the provider up to a day, and is never shorter than the backoff', () => {
    expect(messageRetryDelayMs(1, 30_000, () => 0)).toBe(30_000);
    expect(messageRetryDelayMs(4, 5_000, () => 0)).toBe(16_000);
    expect(messageRetryDelayMs(1, 7 * 86_400_000, () => 0)).toBe(86_400_000);
  });

  it('adds up to a tenth', () => {
    expect(messageRetryDelayMs(1, 0, () => 0.999999)).toBe(2_199);
  });
});

describe('the pause of a connection', () => {
  it('is as long as the provider asks for, from 2 seconds to a day', () => {
    expect([undefined, 500, 30_000, 7 * 86_400_000].map((ms) => pauseMs(ms))).toEqual([
      2_000, 2_000, 30_000, 86_400_000,
    ]);
  });
});
