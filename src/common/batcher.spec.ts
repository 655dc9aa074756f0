import { letTimePass } from '../../test/support/wait';
import { Batcher } from './batcher';

describe('batcher', () => {
  it('batches the items of one tick of the event loop, and collects the next batch meanwhile', async () => {
    const batches: number[][] = [];
    let more: Promise<number[]> | undefined;
    const batcher = new Batcher<number, number>(10, (items) => {
      batches.push(items);
      more ??= Promise.all([batcher.submit(3), batcher.submit(4)]);
      return Promise.resolve(items.map((item) => item * 2));
    });
    expect(await Promise.all([batcher.submit(1), batcher.submit(2)])).toEqual([2, 4]);
    expect(await more).toEqual([6, 8]);
    expect(batches).toEqual([
      [1, 2],
      [3, 4],
    ]);
  });

  it('splits batches at the maximum', async () => {
    const sizes: number[] = [];
    const batcher = new Batcher<number, number>(2, (items) => {
      sizes.push(items.length);
      return Promise.resolve(items);
    });
    expect(await Promise.all([1, 2, 3].map((item) => batcher.submit(item)))).toEqual([1, 2, 3]);
    expect(sizes).toEqual([2, 1]);
  });

  it('rejects all items of a failed batch, and continues with the next batch', async () => {
    const batcher = new Batcher<string, string>(1, ([item]) =>
      item === 'bad' ? Promise.reject(new Error('no')) : Promise.resolve([item!]),
    );
    const answers = await Promise.allSettled(['bad', 'good'].map((item) => batcher.submit(item)));
    expect(answers).toEqual([
      { status: 'rejected', reason: new Error('no') },
      { status: 'fulfilled', value: 'good' },
    ]);
  });

  it('starts the next batch while a result of the last one is still open', async () => {
    let reject!: (error: Error) => void;
    const late = new Promise<string>((_, no) => (reject = no));
    const batcher = new Batcher<string, string>(2, (items) =>
      Promise.resolve(items.map((item) => (item === 'late' ? late : item))),
    );
    const refused = expect(batcher.submit('late')).rejects.toThrow('no');
    expect(await batcher.submit('beside')).toBe('beside');
    expect(await batcher.submit('next')).toBe('next');
    reject(new Error('no'));
    await refused;
  });

  it('waits a while for more items after a batch, unless enough wait', async () => {
    const batches: number[][] = [];
    const batcher = new Batcher<number, number>(
      10,
      (items) => {
        batches.push(items);
        return Promise.resolve(items);
      },
      { everyMs: 200, enough: 3 },
    );
    await batcher.submit(1);
    const few = [batcher.submit(2)];
    await letTimePass(50);
    few.push(batcher.submit(3));
    await Promise.all(few);
    const enough = [4, 5].map((item) => batcher.submit(item));
    await letTimePass(50);
    expect(batches).toEqual([[1], [2, 3]]);
    await Promise.all([...enough, batcher.submit(6)]);
    expect(batches).toEqual([[1], [2, 3], [4, 5, 6]]);
  });

  it('starts a second batch while one hangs, and no third one', async () => {
    const begun: number[] = [];
    const ends: (() => void)[] = [];
    const batcher = new Batcher<number, number>(
      1,
      ([item]) => {
        begun.push(item!);
        return new Promise((resolve) => ends.push(() => resolve([item!])));
      },
      { concurrency: 2 },
    );
    const results = [1, 2, 3].map((item) => batcher.submit(item));
    await letTimePass(100);
    expect(begun).toEqual([1, 2]);
    ends[1]!();
    expect(await results[1]).toBe(2);
    await letTimePass(100);
    expect(begun).toEqual([1, 2, 3]);
    for (const end of ends) end();
    expect(await Promise.all(results)).toEqual([1, 2, 3]);
  });
});
