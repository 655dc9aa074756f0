import { ItemResult, Slots } from './slots';
import { Target } from './targets';

const LIMITS = { total: 120, perTarget: 20, slow: 24 };

const target = (tenantId: string, id = tenantId): Target => ({ tenantId, id });
const targets = (tenantId: string, count: number) =>
  Array.from({ length: count }, (_, n) => target(tenantId, `${tenantId}-${n}`));

describe('Slots', () => {
  let slots: Slots;
  let used: Map<Target, number>;

  beforeEach(() => {
    slots = new Slots(LIMITS);
    used = new Map();
  });

  /** Acquires all free slots of each target, one target after the other. */
  function fill(some: Target[]): void {
    for (const one of some) {
      const free = slots.countFree(one);
      slots.acquire(one, free);
      used.set(one, (used.get(one) ?? 0) + free);
    }
  }

  function release(one: Target, count = used.get(one)!): void {
    slots.release(one, count);
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
      slots = new Slots({ ...LIMITS, total: 10 });
      // The first two get 5 and 3 of the 10, each of the others one.
      for (let n = 0; n < 14; n++) {
        const newcomer = target(`workspace-${n}`);
        expect(slots.countFree(newcomer)).toBeGreaterThanOrEqual(1);
        slots.acquire(newcomer, slots.countFree(newcomer));
        expect(slots.countFree(target(newcomer.tenantId, 'another of its own'))).toBeLessThanOrEqual(1);
      }
      expect(slots.isFull('normal')).toBe(true);
      expect(slots.countFree(target('one more'))).toBe(0);
    });

    it('are all free again when everything has ended', () => {
      const all = [...targets('a', 10), ...targets('b', 10)];
      fill(all);
      for (const one of all) release(one);
      fill(targets('c', 10));
      expect(slots.countFree(target('c', 'another'))).toBe(0);
      fill([target('d')]);
      expect([...used.values()].reduce((sum, count) => sum + count)).toBe(80);
    });
  });

  describe('of a target', () => {
    const one = target('a');

    it('are no more than its own limit', () => {
      expect(slots.countFree(one)).toBe(20);
      slots.acquire(one, 15);
      expect([slots.countFree(one), slots.countFreeOwn(one)]).toEqual([5, 5]);
      slots.release(one, 1);
      expect(slots.countFree(one)).toBe(6);
    });

    it('are half free when one claim fills several', () => {
      slots.acquire(one, 11);
      expect(slots.isHalfFree(one)).toBe(false);
      slots.release(one, 1);
      expect(slots.isHalfFree(one)).toBe(true);
    });
  });

  describe('of a target whose items succeed', () => {
    const one = target('a');
    const note = (result: ItemResult, times: number) => {
      for (let n = 0; n < times; n++) slots.note(one.id, result);
    };
    beforeEach(() => (slots = new Slots({ ...LIMITS, mostPerTarget: 30 })));

    it('are one more with each item, up to a limit', () => {
      note('succeeded', 4);
      expect(slots.countFree(one)).toBe(24);
      note('succeeded', 40);
      expect(slots.countFree(one)).toBe(30);
    });

    it('are as many as at first after one that failed', () => {
      note('succeeded', 10);
      note('failed', 1);
      expect(slots.countFree(one)).toBe(20);
    });

    it('are as many as at first after a time of timeouts', () => {
      note('succeeded', 10);
      note('timeout', 1);
      expect(slots.countFree(one)).toBe(1);
      note('succeeded', 1);
      expect(slots.countFree(one)).toBe(20);
    });

    it('leave background work its part of them', () => {
      note('succeeded', 10);
      expect(slots.countFree({ ...one, isBackground: true })).toBe(15);
    });
  });

  describe('of a target that times out', () => {
    const hanging = target('a', 'hanging');
    beforeEach(() => slots.note(hanging.id, 'timeout'));

    it('are one, until it answers', () => {
      expect(slots.countFree(hanging)).toBe(1);
      slots.acquire(hanging, 1);
      expect(slots.countFree(hanging)).toBe(0);
      expect(slots.isHalfFree(hanging)).toBe(false);
      slots.release(hanging, 1);
      expect(slots.isHalfFree(hanging)).toBe(true);

      slots.note(hanging.id, 'failed');
      expect(slots.countFree(hanging)).toBe(20);
    });

    it('take nothing from the others', () => {
      const slow = targets('a', 100);
      for (const { id } of slow) slots.note(id, 'timeout');
      fill(slow);
      expect(inUse(slow)).toBe(LIMITS.slow / 2);
      const others = targets('a', 200).slice(100);
      fill(others);
      expect(inUse(others)).toBe(60);
    });

    it('come from the pool of the slow ones, which is shared by workspace as well', () => {
      for (const tenantId of ['a', 'b', 'c']) {
        const slow = targets(tenantId, 50);
        for (const { id } of slow) slots.note(id, 'timeout');
        fill(slow);
        expect(inUse(slow)).toBeGreaterThanOrEqual(1);
      }
      const newcomer = target('d');
      slots.note(newcomer.id, 'timeout');
      expect(slots.countFree(newcomer)).toBe(1);
    });

    it('wait for what it had in flight before', () => {
      const became = target('a', 'became slow');
      slots.acquire(became, 3);
      slots.note(became.id, 'timeout');
      slots.release(became, 2);
      expect(slots.countFree(became)).toBe(0);
      slots.release(became, 1);
      expect(slots.countFree(became)).toBe(1);
    });

    it('go back to the pool that they came from', () => {
      const all = targets('a', 4);
      fill(all);
      for (const { id } of all) slots.note(id, 'timeout');
      for (const one of all) release(one);
      fill(all);
      expect(inUse(all)).toBe(4);
      for (const { id } of all) slots.note(id, 'failed');
      for (const one of all) release(one);
      fill(all);
      expect(inUse(all)).toBe(60);
    });
  });

  describe('of background work', () => {
    const live = target('a');
    const background = { ...live, isBackground: true };

    it('are half of the target’s at most, and only those that live work leaves', () => {
      expect(slots.countFree(background)).toBe(10);
      slots.acquire(live, 14);
      expect(slots.countFree(background)).toBe(6);
      slots.acquire(live, 6);
      expect(slots.countFree(background)).toBe(0);
    });

    it('count for live work', () => {
      slots.acquire(background, 10);
      expect(slots.countFree(live)).toBe(10);
      expect(slots.countFree(background)).toBe(0);
      slots.release(background, 4);
      expect([slots.countFree(live), slots.countFree(background)]).toEqual([14, 4]);
    });

    it('have a floor of a tenth while it waits', () => {
      slots.setBackgroundWaiting(live.id, true);
      expect(slots.countFree(live)).toBe(18);
      slots.acquire(live, 18);
      expect([slots.countFree(live), slots.countFree(background)]).toEqual([0, 2]);
      slots.acquire(background, 2);
      slots.release(live, 3);
      expect(slots.countFree(live)).toBe(3);
      slots.setBackgroundWaiting(live.id, false);
      slots.release(background, 2);
      expect(slots.countFree(live)).toBe(5);
    });

    it('can be claimed again as soon as a part of that floor is free', () => {
      slots.setBackgroundWaiting(live.id, true);
      slots.acquire(live, 18);
      expect(slots.isHalfFree(background)).toBe(true);
      slots.acquire(background, 2);
      expect(slots.isHalfFree(background)).toBe(false);
      slots.release(background, 1);
      expect(slots.isHalfFree(background)).toBe(true);
    });

    it('are claimed several at once while live work leaves them free', () => {
      slots.acquire(background, 6);
      expect(slots.isHalfFree(background)).toBe(false);
      slots.release(background, 1);
      expect(slots.isHalfFree(background)).toBe(true);
    });

    it('are no reason for live work to wait for all that it may have', () => {
      slots.acquire(background, 10);
      slots.acquire(live, 10);
      slots.release(live, 4);
      expect(slots.isHalfFree(live)).toBe(false);
      slots.release(live, 1);
      expect(slots.isHalfFree(live)).toBe(true);
    });

    it('leave the only slot of a target to live work', () => {
      slots = new Slots({ ...LIMITS, perTarget: 1 });
      slots.setBackgroundWaiting(live.id, true);
      expect([slots.countFree(live), slots.countFree(background)]).toEqual([1, 1]);
    });
  });
});
