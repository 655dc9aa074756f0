import { decideResult, MAX_MESSAGE_ATTEMPTS, messageRetryDelayMs, pauseMs } from './send-result';

const adapter = { limits: { perSecond: 30, conversationIntervalMs: 1000 }, unknownHoldMs: 0 };

describe('the result of a sent message', () => {
  it('has the provider’s id', () => {
    expect(decideResult({ kind: 'SENT', providerId: 'm_1' }, adapter, 0)).toEqual({
      status: 'SENT',
      providerId: 'm_1',
      holdMs: 1000,
    });
  });

  it.each([null, '', 'a\0b', '\ud800', 'x'.repeat(5_000)])(
    'has no id when the provider’s can’t be stored: %j',
    (id) => {
      expect(decideResult({ kind: 'SENT', providerId: id }, adapter, 0)).toMatchObject({
        status: 'SENT',
        providerId: null,
      });
    },
  );
});

describe('the result of a failed attempt', () => {
  const fault = { providerCode: '429', message: 'Too many' };

  it('pauses the connection as long as the provider asks, and not as long as the backoff', () => {
    const outcome = { kind: 'RETRY', fault, concerns: 'connection', afterMs: 5_000 } as const;
    expect(decideResult(outcome, adapter, 5)).toMatchObject({ status: 'SENDING', pauseMs: 5_000 });
    expect(decideResult({ ...outcome, afterMs: 0 }, adapter, 5)).toMatchObject({ pauseMs: 2_000 });
    expect(decideResult({ ...outcome, concerns: 'message' }, adapter, 5)).toMatchObject({ pauseMs: 0 });
    const { retryDelayMs } = decideResult(outcome, adapter, 5) as { retryDelayMs: number };
    expect(retryDelayMs).toBeGreaterThanOrEqual(64_000);
  });

  it('is FAILED without a recipient', () => {
    expect(decideResult({ kind: 'NO_RECIPIENT' }, adapter, 0)).toMatchObject({
      status: 'FAILED',
      error: { code: 'NO_RECIPIENT', providerCode: null },
    });
  });
});

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
