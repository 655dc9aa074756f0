import { setImmediate as turn } from 'node:timers/promises';
import { workInLanes } from './lanes';

describe('work in lanes', () => {
  const items = Array.from({ length: 60 }, (_, n) => ({ lane: `${n % 7}`, n }));

  it('processes each item once, up to the width concurrently, each lane in order', async () => {
    const [done, active]: [typeof items, Set<string>] = [[], new Set()];
    let most = 0;
    await workInLanes(
      items,
      ({ lane }) => [lane],
      3,
      async (item) => {
        expect(active.has(item.lane)).toBe(false);
        active.add(item.lane);
        most = Math.max(most, active.size);
        for (let turns = item.n % 4; turns >= 0; turns--) await turn();
        active.delete(item.lane);
        done.push(item);
      },
    );
    expect(most).toBe(3);
    expect(done).toHaveLength(items.length);
    for (let lane = 0; lane < 7; lane++) {
      const inLane = (all: typeof items) => all.filter((item) => item.lane === `${lane}`);
      expect(inLane(done)).toEqual(inLane(items));
    }
  });

  it('has one lane for the keys that an item joins, wherever it stands', async () => {
    const given: [string, ...string[]][] = [['P'], ['U'], ['X'], ['V', 'P'], ['W'], ['U', 'V'], ['W', 'Y']];
    const [done, active]: [string[], Set<string>] = [[], new Set()];
    await workInLanes(
      given,
      (keys) => keys,
      4,
      async (keys) => {
        const lane = 'PUV'.includes(keys[0]) ? 'person' : keys[0];
        expect(active.has(lane)).toBe(false);
        active.add(lane);
        for (let turns = 3; turns >= 0; turns--) await turn();
        active.delete(lane);
        done.push(keys.join(''));
      },
    );
    expect(done.filter((keys) => /[PUV]/.test(keys))).toEqual(['P', 'U', 'VP', 'UV']);
    expect(done).toHaveLength(given.length);
  });

  it('settles without items', async () => {
    await expect(
      workInLanes<string>(
        [],
        (key) => [key],
        8,
        () => Promise.reject(new Error('never')),
      ),
    ).resolves.toBeUndefined();
  });
});
