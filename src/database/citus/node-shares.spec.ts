import { DatabaseUnavailable } from '../driver/database-errors';
import { NodeShares } from './node-shares';

const CONNECTIONS = 20;
const SHARE = 7;

/** Shares of nodes that are named by the part of a workspace's id before its hyphen. */
function makeShares(): NodeShares {
  return new NodeShares(CONNECTIONS, (id) => Promise.resolve(id.startsWith('?') ? null : id.split('-')[0]!));
}

/** Begins work that hangs, for workspaces of a node; counts the begun work. */
function beginHanging(shares: NodeShares, count: number, workspaceOf = (n: number) => `a-${n}`) {
  const hanging = { begun: 0, end: () => undefined as void, ended: [] as Promise<unknown>[] };
  const hang = new Promise<void>((resolve) => (hanging.end = resolve));
  for (let n = 0; n < count; n++)
    hanging.ended.push(
      shares.forWorkspace(workspaceOf(n), () => {
        hanging.begun += 1;
        return hang;
      }),
    );
  return hanging;
}

const tick = () => new Promise(setImmediate);

describe('the share of a node', () => {
  it('bounds the work for all of its workspaces, and not that for others', async () => {
    const shares = makeShares();
    const hanging = beginHanging(shares, SHARE + 3);
    await tick();
    expect(hanging.begun).toBe(SHARE);
    expect(await shares.forWorkspace('b-1', () => Promise.resolve('done'))).toBe('done');
    expect(await shares.forWorkspace('?-1', () => Promise.resolve('done'))).toBe('done');
    hanging.end();
    await Promise.all(hanging.ended);
    expect(hanging.begun).toBe(SHARE + 3);
  });

  it('is not for one workspace alone', async () => {
    const shares = makeShares();
    const hanging = beginHanging(shares, 2 * SHARE, () => 'a-1');
    await tick();
    expect(hanging.begun).toBe(Math.ceil(SHARE / 2));
    expect(await shares.forWorkspace('a-2', () => Promise.resolve('done'))).toBe('done');
    hanging.end();
    await Promise.all(hanging.ended);
  });

  it('is given back by work that fails', async () => {
    const shares = makeShares();
    for (let n = 0; n < SHARE; n++)
      await expect(shares.forWorkspace('a-1', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await shares.forWorkspace('a-1', () => Promise.resolve('done'))).toBe('done');
  });

  it('refuses what would wait for long, and does not begin it', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'performance'] });
    try {
      const shares = makeShares();
      const hanging = beginHanging(shares, SHARE);
      await tick();
      let hasBegun = false;
      const work = () => Promise.resolve((hasBegun = true));
      const refused = expect(shares.forWorkspace('a-1', work)).rejects.toThrow(DatabaseUnavailable);
      await tick();
      jest.advanceTimersByTime(2_000);
      await refused;
      expect(hasBegun).toBe(false);
      hanging.end();
      await Promise.all(hanging.ended);
    } finally {
      jest.useRealTimers();
    }
  });
});
