import { setImmediate as tick } from 'node:timers/promises';
import { workInOrder } from './ordered-work';

describe('work in order', () => {
  const items = Array.from({ length: 60 }, (_, n) => ({ group: `${n % 7}`, n }));

  it('processes each item once, up to the width concurrently, each group in order', async () => {
    const [done, active]: [typeof items, Set<string>] = [[], new Set()];
    let most = 0;
    await workInOrder(
      items,
      ({ group }) => [group],
      3,
      async (item) => {
        expect(active.has(item.group)).toBe(false);
        active.add(item.group);
        most = Math.max(most, active.size);
        for (let ticks = item.n % 4; ticks >= 0; ticks--) await tick();
        active.delete(item.group);
        done.push(item);
      },
    );
    expect(most).toBe(3);
    expect(done).toHaveLength(items.length);
    for (let group = 0; group < 7; group++) {
      const inGroup = (all: typeof items) => all.filter((item) => item.group === `${group}`);
      expect(inGroup(done)).toEqual(inGroup(items));
    }
  });

  it('has one group for the keys that an item joins, wherever it stands', async () => {
    const given: [string, ...string[]][] = [['P'], ['U'], ['X'], ['V', 'P'], ['W'], ['U', 'V'], ['W', 'Y']];
    const [done, active]: [string[], Set<string>] = [[], new Set()];
    await workInOrder(
      given,
      (keys) => keys,
      4,
      async (keys) => {
        const group = 'PUV'.includes(keys[0]) ? 'person' : keys[0];
        expect(active.has(group)).toBe(false);
        active.add(group);
        for (let ticks = 3; ticks >= 0; ticks--) await tick();
        active.delete(group);
        done.push(keys.join(''));
      },
    );
    expect(done.filter((keys) => /[PUV]/.test(keys))).toEqual(['P', 'U', 'VP', 'UV']);
    expect(done).toHaveLength(given.length);
  });

  it('settles without items', async () => {
    await expect(
      workInOrder<string>(
        [],
        (key) => [key],
        8,
        () => Promise.reject(new Error('never')),
      ),
    ).resolves.toBeUndefined();
  });
});
