import { ConcurrencyLimiter } from './concurrency-limiter';

describe('ConcurrencyLimiter', () => {
  it('limits the slots of one target and of all', () => {
    const limiter = new ConcurrencyLimiter(12, 10);
    expect(limiter.freeSlots('a')).toBe(10);
    limiter.acquire('a', 8);
    expect([limiter.freeSlots('a'), limiter.freeSlots('b')]).toEqual([2, 4]);
    limiter.release('a', 8);
    expect([limiter.freeSlots('a'), limiter.freeSlots('b')]).toEqual([10, 10]);
  });

  it('makes a target that waits for its own slots ready when half of them are free', () => {
    const limiter = new ConcurrencyLimiter(100, 4);
    limiter.acquire('a', 4);
    limiter.addWaiting('a');
    expect([limiter.isWaiting('a'), limiter.isWaiting('b')]).toEqual([true, false]);
    limiter.release('a', 1);
    expect(limiter.takeReady('a')).toEqual([]);
    limiter.release('a', 1);
    expect(limiter.takeReady('a')).toEqual(['a']);
    expect(limiter.isWaiting('a')).toBe(false);
    expect(limiter.takeReady('a')).toEqual([]);
  });

  it('makes targets that wait for any slot ready in their order, one at a time', () => {
    const limiter = new ConcurrencyLimiter(2, 2);
    limiter.acquire('a', 2);
    limiter.addWaiting('b');
    limiter.addWaiting('c');
    expect(limiter.takeReady('a')).toEqual([]);
    limiter.release('a', 1);
    expect(limiter.takeReady('a')).toEqual(['b']);
    expect(limiter.takeReady('a')).toEqual(['c']);
    expect(limiter.takeReady('a')).toEqual([]);
  });

  it('makes no target ready that does not wait', () => {
    const limiter = new ConcurrencyLimiter(2, 2);
    limiter.acquire('a', 1);
    limiter.release('a', 1);
    expect(limiter.takeReady('a')).toEqual([]);
  });
});
