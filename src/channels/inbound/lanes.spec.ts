import { setImmediate as turn } from 'node:timers/promises';
import { workInLanes } from './lanes';

describe('work in lanes', () => {
  const items = Array.from({ length: 60 }, (_, n) => ({ lane: `${n % 7}`, n }));

  it('does everything once, so many at a time, and what shares a lane in order', async () => {
    const [done, underWay]: [typeof items, Set<string>] = [[], new Set()];
    let most = 0;
    await workInLanes(
      items,
      ({ lane }) => lane,
      3,
      async (item) => {
        expect(underWay.has(item.lane)).toBe(false);
        underWay.add(item.lane);
        most = Math.max(most, underWay.size);
        for (let turns = item.n % 4; turns >= 0; turns--) await turn();
        underWay.delete(item.lane);
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

  it('is done at once with nothing', async () => {
    await expect(
      workInLanes([], String, 8, () => Promise.reject(new Error('never'))),
    ).resolves.toBeUndefined();
  });
});
