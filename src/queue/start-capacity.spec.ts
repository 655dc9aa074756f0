import { setImmediate as nextTurn } from 'node:timers/promises';
import { StartCapacity } from './start-capacity';
import { Target } from './targets';

/** Two slots, and as many beyond for workspaces that have nothing in flight. */
const LIMITS = { total: 2, perTarget: 2, slow: 1 };
const CAP = 4;

const target = (name: string): Target => ({ tenantId: name, id: `${name}'s` });

describe('StartCapacity', () => {
  let capacity: StartCapacity;
  let woken: string[];
  let clock: { isTrusted: boolean };

  beforeEach(() => {
    clock = { isTrusted: true };
    capacity = new StartCapacity(LIMITS, clock);
    woken = [];
    capacity.onFree(({ tenantId }) => woken.push(tenantId));
  });

  /** Claims for a workspace, which waits if it gets nothing. Returns how much the claim may start. */
  function claim(name: string): number {
    const slots = capacity.acquireForClaim(target(name));
    if (slots === 0) capacity.wait(target(name));
    return slots;
  }

  function fill(): void {
    for (let n = 0; n < CAP; n++) expect(claim(`first ${n}`)).toBe(1);
  }

  it('forgets the pauses of targets that nobody asks for again', () => {
    const paused = target('paused');
    capacity.pause(paused, 60_000);
    for (let n = 0; n < 100_000; n++) capacity.pause(target(`deleted ${n}`), -1);
    expect(capacity['pausedUntil'].size).toBeLessThan(2_000);
    expect(capacity.isPaused(paused)).toBe(true);
  });

  it('lets workspaces wait for a slot beyond its cap, and gives it to them in their order', async () => {
    fill();
    const late = ['a', 'b', 'c'];
    expect(late.map(claim)).toEqual([0, 0, 0]);
    for (const [n, name] of late.entries()) {
      capacity.release(target(`first ${n}`), 1);
      await nextTurn();
      expect(woken).toEqual(late.slice(0, n + 1));
      expect(claim(name)).toBe(1);
    }
  });

  it('gives nobody a slot before those who wait, not between its release and their claim', async () => {
    fill();
    expect(claim('waits')).toBe(0);
    capacity.release(target('first 0'), 1);
    expect(claim('newcomer')).toBe(0);
    expect(capacity.countStartable(target('another'))).toBe(0);
    await nextTurn();
    expect(woken).toEqual(['waits']);
    expect(claim('newcomer')).toBe(0);
    expect(claim('waits')).toBe(1);
  });

  it('gives a slot on when the claim of the one that waited finds nothing', async () => {
    fill();
    expect(['a', 'b'].map(claim)).toEqual([0, 0]);
    capacity.release(target('first 0'), 1);
    await nextTurn();
    capacity.release(target('a'), claim('a'));
    await nextTurn();
    expect(woken).toEqual(['a', 'b']);
  });

  it('gives a slot on while the one that waited is paused', async () => {
    fill();
    expect(['a', 'b'].map(claim)).toEqual([0, 0]);
    capacity.pause(target('a'), 60_000);
    capacity.release(target('first 0'), 1);
    await nextTurn();
    expect(capacity.acquireForClaim(target('a'))).toBe(0);
    await nextTurn();
    expect(woken).toEqual(['a', 'b']);
    expect(claim('b')).toBe(1);
  });

  it('starts nothing while the clock is not trusted', () => {
    clock.isTrusted = false;
    expect(capacity.countStartable(target('a'))).toBe(0);
    expect(capacity.acquireForClaim(target('a'))).toBe(0);
  });

  describe('is crowded', () => {
    const start = (name: string) => capacity.acquireAtOnce(target(name), 1);

    beforeEach(() => {
      capacity = new StartCapacity({ total: 10, perTarget: 2, slow: 1 }, clock);
    });

    afterEach(() => jest.useRealTimers());

    it('while a workspace wants more than it gets, and another finds a slot at once', () => {
      expect([claim('floods'), claim('floods')]).toEqual([2, 0]);
      expect(capacity.isCrowded).toBe(false);
      start('quiet');
      expect(capacity.isCrowded).toBe(true);
    });

    it('not for a workspace beside nobody but itself', () => {
      expect([claim('floods'), claim('floods')]).toEqual([2, 0]);
      start('floods');
      expect(capacity.isCrowded).toBe(false);
    });

    it('not by a workspace that uses few of the slots in use', () => {
      expect([claim('floods'), claim('floods')]).toEqual([2, 0]);
      for (let n = 0; n < 3; n++) start(`quiet ${n}`);
      expect(capacity.isCrowded).toBe(false);
    });

    it('until a second after the others have started work', () => {
      expect([claim('floods'), claim('floods')]).toEqual([2, 0]);
      start('quiet');
      jest.useFakeTimers({ now: Date.now() + 1_001 });
      expect(capacity.isCrowded).toBe(false);
      start('quiet');
      expect(capacity.isCrowded).toBe(false);
    });
  });
});
