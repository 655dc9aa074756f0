import { setImmediate as nextTurn } from 'node:timers/promises';
import { ItemResult, StartCapacity } from './start-capacity';
import { Target } from './targets';

const LIMITS = { total: 120, perTarget: 20, slow: 24 };

const target = (tenantId: string, id = tenantId): Target => ({ tenantId, id });
const targets = (tenantId: string, count: number) =>
  Array.from({ length: count }, (_, n) => target(tenantId, `${tenantId}-${n}`));

describe('StartCapacity', () => {
  let capacity: StartCapacity;
  let clock: { isTrusted: boolean };
  let used: Map<Target, number>;

  beforeEach(() => {
    clock = { isTrusted: true };
    capacity = new StartCapacity(LIMITS, clock);
    used = new Map();
  });

  /** Acquires all free slots of each target, one target after the other. */
  function fill(some: Target[]): void {
    for (const one of some) {
      used.set(one, (used.get(one) ?? 0) + capacity.acquire(one));
    }
  }

  function release(one: Target, count = used.get(one)!): void {
    capacity.release(one, count);
    used.set(one, used.get(one)! - count);
  }

  const inUse = (some: Target[]) => some.reduce((sum, one) => sum + (used.get(one) ?? 0), 0);

  /**
   * Releases every slot in use, one by one, and gives each to the next claimant; repeats this several times.
   */
  function turnOver(workspaces: Target[][]): void {
    const all = workspaces.flat();
    for (let round = 0; round < 5; round++) {
      for (const one of all) {
        for (let n = used.get(one) ?? 0; n > 0; n--) {
          release(one, 1);
          // The neighbours of the one that has released ask first.
          fill([...all.slice(all.indexOf(one) + 1), ...all.slice(0, all.indexOf(one) + 1)]);
        }
      }
    }
  }

  describe('of a process', () => {
    it('give a workspace alone half of them', () => {
      const alone = targets('a', 10);
      fill(alone);
      expect(inUse(alone)).toBe(60);
    });

    it('give two workspaces a third each, even if one was there before', () => {
      const [first, second] = [targets('a', 10), targets('b', 10)];
      fill(first);
      turnOver([first, second]);
      for (const own of [first, second]) expect(inUse(own)).toBeCloseTo(40, -1);
      expect(inUse([...first, ...second])).toBeLessThanOrEqual(81);
    });

    it('give back to one workspace what another one leaves', () => {
      const [first, second] = [targets('a', 10), targets('b', 10)];
      fill([...first, ...second]);
      for (const one of second) release(one);
      fill(first);
      expect(inUse(first)).toBe(60);
    });

    it('have one for every newcomer, up to a cap', () => {
      capacity = new StartCapacity({ ...LIMITS, total: 10 }, clock);
      // The first two get 5 and 3 of the 10, each of the others one.
      for (let n = 0; n < 14; n++) {
        const newcomer = target(`workspace-${n}`);
        expect(capacity.countStartable(newcomer)).toBeGreaterThanOrEqual(1);
        capacity.acquire(newcomer);
        expect(capacity.countStartable(target(newcomer.tenantId, 'another of its own'))).toBeLessThanOrEqual(
          1,
        );
      }
      expect(capacity.pool.used).toBe(20);
      expect(capacity.countStartable(target('one more'))).toBe(0);
    });

    it('are all free again when everything has ended', () => {
      const all = [...targets('a', 10), ...targets('b', 10)];
      fill(all);
      for (const one of all) release(one);
      fill(targets('c', 10));
      expect(capacity.countStartable(target('c', 'another'))).toBe(0);
      fill([target('d')]);
      expect([...used.values()].reduce((sum, count) => sum + count)).toBe(80);
    });
  });

  describe('of a target', () => {
    const one = target('a');

    it('are no more than its own limit', () => {
      expect(capacity.countStartable(one)).toBe(20);
      capacity.acquire(one, 15);
      expect(capacity.countStartable(one)).toBe(5);
      capacity.release(one, 1);
      expect(capacity.countStartable(one)).toBe(6);
    });

    it('are half free when one claim fills several', () => {
      capacity.acquire(one, 11);
      expect(capacity.isReady(one)).toBe(false);
      capacity.release(one, 1);
      expect(capacity.isReady(one)).toBe(true);
    });
  });

  describe('of a target whose items succeed', () => {
    const one = target('a');
    const note = (result: ItemResult, times: number) => {
      for (let n = 0; n < times; n++) capacity.note(one.id, result);
    };
    beforeEach(() => (capacity = new StartCapacity({ ...LIMITS, mostPerTarget: 30 }, clock)));

    it('are one more with each item, up to a limit', () => {
      note('succeeded', 4);
      expect(capacity.countStartable(one)).toBe(24);
      note('succeeded', 40);
      expect(capacity.countStartable(one)).toBe(30);
    });

    it('are as many as at first after one that failed', () => {
      note('succeeded', 10);
      note('failed', 1);
      expect(capacity.countStartable(one)).toBe(20);
    });

    it('are as many as at first after a time of timeouts', () => {
      note('succeeded', 10);
      note('timeout', 1);
      expect(capacity.countStartable(one)).toBe(1);
      note('succeeded', 1);
      expect(capacity.countStartable(one)).toBe(20);
    });

    it('leave background work its part of them', () => {
      note('succeeded', 10);
      expect(capacity.countStartable({ ...one, isBackground: true })).toBe(15);
    });
  });

  describe('of a target that times out', () => {
    const hanging = target('a', 'hanging');
    beforeEach(() => capacity.note(hanging.id, 'timeout'));

    it('are one, until it answers', () => {
      expect(capacity.countStartable(hanging)).toBe(1);
      capacity.acquire(hanging, 1);
      expect(capacity.countStartable(hanging)).toBe(0);
      expect(capacity.isReady(hanging)).toBe(false);
      capacity.release(hanging, 1);
      expect(capacity.isReady(hanging)).toBe(true);

      capacity.note(hanging.id, 'failed');
      expect(capacity.countStartable(hanging)).toBe(20);
    });

    it('take nothing from the others', () => {
      const slow = targets('a', 100);
      for (const { id } of slow) capacity.note(id, 'timeout');
      fill(slow);
      expect(inUse(slow)).toBe(LIMITS.slow / 2);
      const others = targets('a', 200).slice(100);
      fill(others);
      expect(inUse(others)).toBe(60);
    });

    it('come from the pool of the slow ones, which is shared by workspace as well', () => {
      for (const tenantId of ['a', 'b', 'c']) {
        const slow = targets(tenantId, 50);
        for (const { id } of slow) capacity.note(id, 'timeout');
        fill(slow);
        expect(inUse(slow)).toBeGreaterThanOrEqual(1);
      }
      const newcomer = target('d');
      capacity.note(newcomer.id, 'timeout');
      expect(capacity.countStartable(newcomer)).toBe(1);
    });

    it('wait for what it had in flight before', () => {
      const became = target('a', 'became slow');
      capacity.acquire(became, 3);
      capacity.note(became.id, 'timeout');
      capacity.release(became, 2);
      expect(capacity.countStartable(became)).toBe(0);
      capacity.release(became, 1);
      expect(capacity.countStartable(became)).toBe(1);
    });

    it('go back to the pool that they came from', () => {
      const all = targets('a', 4);
      fill(all);
      for (const { id } of all) capacity.note(id, 'timeout');
      for (const one of all) release(one);
      fill(all);
      expect(inUse(all)).toBe(4);
      for (const { id } of all) capacity.note(id, 'failed');
      for (const one of all) release(one);
      fill(all);
      expect(inUse(all)).toBe(60);
    });
  });

  describe('of background work', () => {
    const live = target('a');
    const background = { ...live, isBackground: true };

    it('are half of the target’s at most, and only those that live work leaves', () => {
      expect(capacity.countStartable(background)).toBe(10);
      capacity.acquire(live, 14);
      expect(capacity.countStartable(background)).toBe(6);
      capacity.acquire(live, 6);
      expect(capacity.countStartable(background)).toBe(0);
    });

    it('count for live work', () => {
      capacity.acquire(background, 10);
      expect(capacity.countStartable(live)).toBe(10);
      expect(capacity.countStartable(background)).toBe(0);
      capacity.release(background, 4);
      expect([capacity.countStartable(live), capacity.countStartable(background)]).toEqual([14, 4]);
    });

    it('have a floor of a tenth while it waits', () => {
      capacity.addWaiting([background]);
      expect(capacity.countStartable(live)).toBe(18);
      capacity.acquire(live);
      expect(capacity.countStartable(live)).toBe(0);
      expect(capacity.nextWaiting()).toBe(background);
      expect(capacity.acquire(background)).toBe(2);
      capacity.addWaiting([background]);
      expect(capacity.nextWaiting()).toBeUndefined();
      capacity.release(background, 1);
      expect(capacity.countStartable(live)).toBe(0);
      expect(capacity.nextWaiting()).toBe(background);
    });

    it('are no reason for live work to wait for all that it may have', () => {
      capacity.acquire(background, 10);
      capacity.acquire(live, 10);
      capacity.release(live, 4);
      expect(capacity.isReady(live)).toBe(false);
      capacity.release(live, 1);
      expect(capacity.isReady(live)).toBe(true);
    });

    it('leave the only slot of a target to live work', () => {
      capacity = new StartCapacity({ ...LIMITS, perTarget: 1 }, clock);
      capacity.addWaiting([background]);
      expect(capacity.countStartable(live)).toBe(1);
    });
  });

  describe('of targets that wait', () => {
    const names = (count: number) => Array.from({ length: count }, (_, n) => `first ${n}`);
    let woken: string[];

    /** Two slots, and as many beyond for workspaces that have nothing in flight. All four are in use. */
    beforeEach(() => {
      capacity = new StartCapacity({ total: 2, perTarget: 2, slow: 1 }, clock);
      for (const name of names(4)) expect(capacity.acquire(target(name))).toBe(1);
      woken = [];
      capacity.onRelease(() => {
        for (let one = capacity.nextWaiting(); one; one = capacity.nextWaiting()) {
          woken.push(one.tenantId);
          capacity.acquire(one);
        }
      });
    });

    it('are given in their order when some are free', async () => {
      const late = ['a', 'b', 'c'];
      capacity.addWaiting(late.map((name) => target(name)));
      expect(capacity.nextWaiting()).toBeUndefined();
      for (const [n, name] of names(3).entries()) {
        capacity.release(target(name), 1);
        await nextTurn();
        expect(woken).toEqual(late.slice(0, n + 1));
      }
    });

    it('are not for a newer item of the same target', () => {
      capacity.addWaiting([target('a')]);
      capacity.release(target('first 0'), 1);
      expect(capacity.acquire(target('a'))).toBe(0);
      expect(capacity.nextWaiting()).toEqual(target('a'));
      expect(capacity.acquire(target('a'))).toBe(1);
    });

    it('are given to the next one while one is paused', async () => {
      capacity.addWaiting([target('paused'), target('b')]);
      capacity.pause(target('paused'), 60_000);
      capacity.release(target('first 0'), 1);
      await nextTurn();
      expect(woken).toEqual(['b']);
    });

    it('are given to nobody while the clock is not trusted', async () => {
      capacity.addWaiting([target('a')]);
      clock.isTrusted = false;
      capacity.release(target('first 0'), 1);
      await nextTurn();
      expect(woken).toEqual([]);
      expect(capacity.acquire(target('b'))).toBe(0);
    });
  });

  describe('is crowded', () => {
    beforeEach(() => {
      capacity = new StartCapacity({ total: 10, perTarget: 2, slow: 1 }, clock);
      expect(capacity.acquire(target('floods'))).toBe(2);
      capacity.addWaiting([target('floods')]);
    });
    afterEach(() => jest.useRealTimers());

    it('while a workspace wants more than it gets, and another finds a slot at once', () => {
      expect(capacity.isCrowded).toBe(false);
      capacity.acquire(target('quiet'), 1);
      expect(capacity.isCrowded).toBe(true);
    });

    it('not for a workspace beside nobody but itself', () => {
      capacity.acquire(target('floods', 'another'));
      expect(capacity.isCrowded).toBe(false);
    });

    it('not by a workspace that uses few of the slots in use', () => {
      for (let n = 0; n < 3; n++) capacity.acquire(target(`quiet ${n}`), 1);
      expect(capacity.isCrowded).toBe(false);
    });

    it('until a second after the others have started work', () => {
      capacity.acquire(target('quiet'), 1);
      jest.useFakeTimers({ now: Date.now() + 1_001 });
      expect(capacity.isCrowded).toBe(false);
    });
  });
});
