import { setImmediate as nextTick } from 'node:timers/promises';
import { Batcher } from '../common/batcher';
import type { Database } from './database';
import { WorkspaceBatcher } from './workspace-batcher';

describe('WorkspaceBatcher', () => {
  const database = { batchKeyOf: (tenantId: string) => tenantId } as Database;
  let batches: string[][];
  let batcher: WorkspaceBatcher<string, string>;

  beforeEach(() => {
    batches = [];
    const work = (items: string[]) => {
      batches.push(items);
      return Promise.resolve(items);
    };
    batcher = new WorkspaceBatcher(database, () => new Batcher(10, work, { everyMs: 10_000, enough: 2 }));
  });

  it('batches the items of each workspace by themselves', async () => {
    await Promise.all([batcher.submit('a', 'a1'), batcher.submit('b', 'b1'), batcher.submit('a', 'a2')]);
    expect(batches.toSorted()).toEqual([['a1', 'a2'], ['b1']]);
  });

  it('keeps the time between two batches, even if no item waits meanwhile', async () => {
    await batcher.submit('a', 'first');
    const second = batcher.submit('a', 'second');
    for (let n = 0; n < 5; n++) await nextTick();
    await Promise.all([second, batcher.submit('a', 'third')]);
    expect(batches).toEqual([['first'], ['second', 'third']]);
  });

  it('keeps the batcher of a workspace with items, however many workspaces come', async () => {
    await batcher.submit('a', 'first');
    const second = batcher.submit('a', 'second');
    await Promise.all(Array.from({ length: 1_100 }, (_, n) => batcher.submit(`b${n}`, `b${n}`)));
    await Promise.all([second, batcher.submit('a', 'third')]);
    expect(batches.filter(([item]) => !item!.startsWith('b'))).toEqual([['first'], ['second', 'third']]);
  });
});
