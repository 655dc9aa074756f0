import { MAX_DELIVERY_ATTEMPTS, deliveryRetryDelayMs } from './delivery-attempter';

describe('deliveryRetryDelayMs', () => {
  const attempts = [1, 2, 3, 4, 5];

  it('doubles from 2 seconds, five times', () => {
    expect(attempts.map((failed) => deliveryRetryDelayMs(failed, () => 0))).toEqual([
      2000, 4000, 8000, 16000, 32000,
    ]);
  });

  it('adds at most a tenth', () => {
    expect(attempts.map((failed) => deliveryRetryDelayMs(failed, () => 0.999999))).toEqual([
      2199, 4399, 8799, 17599, 35199,
    ]);
  });

  it('ends after the last attempt', () => {
    expect(deliveryRetryDelayMs(MAX_DELIVERY_ATTEMPTS)).toBeNull();
    expect(deliveryRetryDelayMs(MAX_DELIVERY_ATTEMPTS + 1)).toBeNull();
  });
});
