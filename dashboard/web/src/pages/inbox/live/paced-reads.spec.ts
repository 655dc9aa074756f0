import { makePacedReader } from './paced-reads';

/** Makes a paced reader whose reads take as long as a test lets them. */
function startReader(restMs: number) {
  const reads: string[][] = [];
  let end = () => {};
  let fail = (_error: Error) => {};
  const notice = makePacedReader<string>(restMs, (changes) => {
    reads.push(changes);
    return new Promise<void>((resolve, reject) => {
      end = resolve;
      fail = reject;
    });
  });
  const readFor = async (ms: number) => {
    await jest.advanceTimersByTimeAsync(ms);
    end();
    await jest.advanceTimersByTimeAsync(0);
  };
  return { reads, notice, readFor, fail: (error: Error) => fail(error) };
}

describe('a paced reader', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  it('reads a change at once', () => {
    const { reads, notice } = startReader(300);
    notice('a');
    expect(reads).toEqual([['a']]);
  });

  it('collects what changes while it reads and rests, each once, and reads it together', async () => {
    const { reads, notice, readFor } = startReader(300);
    notice('a');
    for (const change of ['b', 'c', 'b']) notice(change);
    await readFor(10);
    notice('a');
    await jest.advanceTimersByTimeAsync(299);
    expect(reads).toEqual([['a']]);
    await jest.advanceTimersByTimeAsync(1);
    expect(reads).toEqual([['a'], ['b', 'c', 'a']]);
  });

  it('rests longer after a slow read', async () => {
    const { reads, notice, readFor } = startReader(300);
    notice('a');
    notice('b');
    await readFor(500);
    await jest.advanceTimersByTimeAsync(1_999);
    expect(reads).toHaveLength(1);
    await jest.advanceTimersByTimeAsync(1);
    expect(reads).toHaveLength(2);
  });

  it('rests five seconds at most', async () => {
    const { reads, notice, readFor } = startReader(300);
    notice('a');
    notice('b');
    await readFor(60_000);
    await jest.advanceTimersByTimeAsync(4_999);
    expect(reads).toHaveLength(1);
    await jest.advanceTimersByTimeAsync(1);
    expect(reads).toHaveLength(2);
  });

  it('reads the next changes after a read that fails', async () => {
    const logged = jest.spyOn(console, 'error').mockImplementation();
    const { reads, notice, fail } = startReader(300);
    const error = new Error('No answer.');
    notice('a');
    notice('b');
    fail(error);
    await jest.advanceTimersByTimeAsync(300);
    expect(reads).toEqual([['a'], ['b']]);
    expect(logged).toHaveBeenCalledWith(error);
    logged.mockRestore();
  });

  it('stops when nothing has changed, and reads the next change at once', async () => {
    const { reads, notice, readFor } = startReader(300);
    notice('a');
    await readFor(10);
    await jest.advanceTimersByTimeAsync(10_000);
    expect(reads).toEqual([['a']]);
    notice('a');
    expect(reads).toEqual([['a'], ['a']]);
  });
});
