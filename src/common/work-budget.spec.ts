import { EventEmitter } from 'node:events';
import { WorkBudget } from './work-budget';

describe('work budget', () => {
  it('bounds what one key has in flight, and leaves the rest to others', () => {
    const budget = new WorkBudget({ total: 5, perKey: 2 });
    expect([1, 2, 3].map(() => budget.tryAcquire('loud') !== null)).toEqual([true, true, false]);
    expect(budget.isFull).toBe(false);
    expect(budget.tryAcquire('quiet')).not.toBeNull();
  });

  it('bounds what the process has in flight', () => {
    const budget = new WorkBudget({ total: 2, perKey: 2 });
    budget.tryAcquire('a');
    const release = budget.tryAcquire('b')!;
    expect(budget.isFull).toBe(true);
    expect(budget.tryAcquire('c')).toBeNull();
    release();
    expect(budget.isFull).toBe(false);
    expect(budget.tryAcquire('c')).not.toBeNull();
  });

  it('releases a slot once', () => {
    const budget = new WorkBudget({ total: 2, perKey: 2 });
    const release = budget.tryAcquire('a')!;
    budget.tryAcquire('a');
    release();
    release();
    expect([1, 2].map(() => budget.tryAcquire('a') !== null)).toEqual([true, false]);
  });

  it('takes nothing with a refusal', () => {
    const budget = new WorkBudget({ total: 3, perKey: 1 });
    const release = budget.tryAcquire('a')!;
    for (let n = 0; n < 10; n++) expect(budget.tryAcquire('a')).toBeNull();
    release();
    expect(budget.tryAcquire('a')).not.toBeNull();
    expect(budget.tryAcquire('b')).not.toBeNull();
  });

  describe('with lines', () => {
    const waiting = { waiting: 3, waitingPerKey: 2 };
    /**
     * Makes one caller for each key wait for a slot, and lists the keys in `served` in the order in which
     * they get one.
     */
    const lineUp = (budget: WorkBudget, ...keys: string[]) => {
      const served: string[] = [];
      const releases: (() => void)[] = [];
      const done = keys.map(async (key) => {
        const release = await budget.acquire(key);
        served.push(release ? key : `no ${key}`);
        if (release) releases.push(release);
      });
      return { served, releases, done: Promise.all(done) };
    };

    it('serves the lines in turns, and each of them in its order', async () => {
      const budget = new WorkBudget({ total: 1, perKey: 1, waiting: 9, waitingPerKey: 9 });
      const first = budget.tryAcquire('loud')!;
      const { served, releases, done } = lineUp(budget, 'loud', 'loud', 'loud', 'quiet');
      first();
      for (let n = 0; n < 4; n++) {
        await new Promise(setImmediate);
        releases[n]!();
      }
      await done;
      expect(served).toEqual(['loud', 'quiet', 'loud', 'loud']);
      expect(budget.isFull).toBe(false);
    });

    describe('that were served at a pace', () => {
      const limits = { total: 1, perKey: 1, waiting: 99, waitingPerKey: 99 };

      beforeEach(() => jest.useFakeTimers({ doNotFake: ['setImmediate'] }));
      afterEach(() => jest.useRealTimers());

      /** Holds the slot for each of the times, in milliseconds, while `waiting` more callers wait for it. */
      const serve = async (budget: WorkBudget, key: string, waiting: number, heldMs: number[]) => {
        let release = budget.tryAcquire(key)!;
        const line = Array.from({ length: waiting }, () => budget.acquire(key));
        for (const ms of heldMs) {
          line.push(budget.acquire(key));
          jest.advanceTimersByTime(ms);
          release();
          release = (await line.shift())!;
        }
      };

      it('refuses at once who would wait too long, but not one whose line is short', async () => {
        const budget = new WorkBudget({ ...limits, maxExpectedMs: 3_000 });
        await serve(budget, 'loud', 2, [1_000, 1_000, 1_000]);
        const { served } = lineUp(budget, 'loud', 'loud', 'quiet');
        await new Promise(setImmediate);
        expect(served).toEqual(['no loud']);
        expect(budget.secondsUntilRoom('loud')).toBe(5);
      });

      it('refuses nobody because one slot was held up', async () => {
        const budget = new WorkBudget({ ...limits, maxExpectedMs: 900 });
        await serve(budget, 'a', 4, [...Array<number>(20).fill(100), 5_000]);
        const { served } = lineUp(budget, 'a');
        await new Promise(setImmediate);
        expect(served).toEqual([]);
      });
    });

    it('passes over a key that has all its slots', async () => {
      const budget = new WorkBudget({ total: 2, perKey: 1, ...waiting });
      const [one, other] = [budget.tryAcquire('a')!, budget.tryAcquire('b')!];
      const { served, done, releases } = lineUp(budget, 'a', 'c');
      other();
      await new Promise(setImmediate);
      expect(served).toEqual(['c']);
      one();
      await done;
      expect(served).toEqual(['c', 'a']);
      releases.forEach((release) => release());
      expect(budget.tryAcquire('b')).not.toBeNull();
    });

    it('refuses when the line is full, of the key or of all', async () => {
      const budget = new WorkBudget({ total: 1, perKey: 1, ...waiting });
      const releases = [budget.tryAcquire('x')!];
      const line = lineUp(budget, 'a', 'a', 'a', 'b', 'b', 'c');
      await new Promise(setImmediate);
      expect(line.served).toEqual(['no a', 'no b', 'no c']);
      expect(['x', 'a', 'b', 'c'].map((key) => budget.isUsedUp(key))).toEqual([true, true, false, false]);

      for (let n = 0; n < 4; n++) {
        [...releases, ...line.releases][n]!();
        await new Promise(setImmediate);
      }
      expect(line.served).toEqual(['no a', 'no b', 'no c', 'a', 'b', 'a']);
    });

    it('lets a caller leave the line', async () => {
      const budget = new WorkBudget({ total: 1, perKey: 1, ...waiting });
      const release = budget.tryAcquire('a')!;
      const caller = Object.assign(new EventEmitter(), { closed: false });
      const left = budget.acquire('a', caller);
      const stays = budget.acquire('a');
      caller.emit('close');
      expect(await left).toBeNull();
      expect(caller.listenerCount('close')).toBe(0);
      release();
      expect(await stays).not.toBeNull();
    });

    it('tells when a refused caller finds a place: when the one that has waited longest is gone', async () => {
      jest.useFakeTimers();
      try {
        const budget = new WorkBudget({ total: 1, perKey: 1, ...waiting });
        budget.tryAcquire('x');
        void budget.acquire('a');
        jest.advanceTimersByTime(2_500);
        void budget.acquire('a');
        expect(await budget.acquire('a')).toBeNull();
        expect(budget.secondsUntilRoom('a')).toBe(8);
        // The line of all keys is full one second later.
        jest.advanceTimersByTime(1_000);
        void budget.acquire('b');
        expect(await budget.acquire('b')).toBeNull();
        expect(['a', 'b', 'c'].map((key) => budget.secondsUntilRoom(key))).toEqual([7, 7, 7]);

        jest.advanceTimersByTime(7_000);
        const served = budget.acquire('a');
        expect(budget.secondsUntilRoom('b')).toBe(2);
        await Promise.race([served, Promise.resolve()]);
        jest.advanceTimersByTime(10_000);
        expect(await served).toBeNull();
        // No caller waits any more.
        expect(budget.secondsUntilRoom('a')).toBe(1);
      } finally {
        jest.useRealTimers();
      }
    });

    it('lets nobody wait for more than 10 seconds', async () => {
      jest.useFakeTimers();
      try {
        const budget = new WorkBudget({ total: 1, perKey: 1, ...waiting });
        const release = budget.tryAcquire('a')!;
        const late = budget.acquire('a');
        jest.advanceTimersByTime(9_999);
        const inTime = budget.acquire('a');
        jest.advanceTimersByTime(1);
        expect(await late).toBeNull();
        release();
        expect(await inTime).not.toBeNull();
      } finally {
        jest.useRealTimers();
      }
    });
  });
});
