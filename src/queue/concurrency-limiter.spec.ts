import { ConcurrencyLimiter } from './concurrency-limiter';

describe('room', () => {
  it('is what is left of a target’s places and of all', () => {
    const room = new ConcurrencyLimiter(12, 10);
    expect(room.of('a')).toBe(10);
    room.take('a', 8);
    expect([room.of('a'), room.of('b')]).toEqual([2, 4]);
    room.free('a', 8);
    expect([room.of('a'), room.of('b')]).toEqual([10, 10]);
  });

  it('calls a target that missed its own places back when half of them are free', () => {
    const room = new ConcurrencyLimiter(100, 4);
    room.take('a', 4);
    room.miss('a');
    expect([room.hasMissed('a'), room.hasMissed('b')]).toEqual([true, false]);
    room.free('a', 1);
    expect(room.takeMissed('a')).toEqual([]);
    room.free('a', 1);
    expect(room.takeMissed('a')).toEqual(['a']);
    expect(room.hasMissed('a')).toBe(false);
    expect(room.takeMissed('a')).toEqual([]);
  });

  it('calls those that missed a place in all back in turn, one for each that is free', () => {
    const room = new ConcurrencyLimiter(2, 2);
    room.take('a', 2);
    room.miss('b');
    room.miss('c');
    expect(room.takeMissed('a')).toEqual([]);
    room.free('a', 1);
    expect(room.takeMissed('a')).toEqual(['b']);
    expect(room.takeMissed('a')).toEqual(['c']);
    expect(room.takeMissed('a')).toEqual([]);
  });

  it('calls nobody who missed nothing', () => {
    const room = new ConcurrencyLimiter(2, 2);
    room.take('a', 1);
    room.free('a', 1);
    expect(room.takeMissed('a')).toEqual([]);
  });
});
