import { newId } from '../../src/common/ids';
import { ReservedCalls } from '../../src/http/limits/reserved-calls';
import { FixedWindows } from '../../src/redis/fixed-windows';
import { countedByHost } from '../support/counted-in-redis';
import { MessagingHost } from '../support/messaging-host';
import { waitFor } from '../support/wait';

const MINUTE_MS = 60_000;

describe('reserved calls', () => {
  let host: MessagingHost;
  let windows: FixedWindows;
  let processes: [ReservedCalls, ReservedCalls];

  beforeAll(async () => {
    host = await MessagingHost.create();
    windows = host.get(FixedWindows);
  });
  beforeEach(() => {
    processes = [new ReservedCalls(windows), new ReservedCalls(windows)];
  });

  /** Makes calls, one after the other, and returns the number that each got. */
  async function call(calls: ReservedCalls, key: string, count: number, limit: number): Promise<number[]> {
    const numbers: number[] = [];
    while (numbers.length < count) numbers.push((await calls.count(key, MINUTE_MS, limit)).used);
    return numbers;
  }
  const countOf = async (key: string) => (await windows.read(key))!.used;
  const inOrder = (numbers: number[]) => numbers.sort((a, b) => a - b);
  const upTo = (count: number) => Array.from({ length: count }, (_, n) => n + 1);

  it('give each call of all processes a number of its own', () =>
    countedByHost(host, async () => {
      const key = newId();
      const numbers = await Promise.all(
        processes.flatMap((calls) => [call(calls, key, 200, 500), call(calls, key, 200, 500)]),
      );
      expect(inOrder(numbers.flat())).toEqual(upTo(800));
    }));

  it('are counted before they are made, and given back if they are not made', () =>
    countedByHost(host, async () => {
      const key = newId();
      expect(await call(processes[0], key, 20, 10_000)).toEqual(upTo(20));
      expect(await countOf(key)).toBeGreaterThan(20);
      await waitFor('unused calls to be given back', async () => (await countOf(key)) === 20);
      expect(await call(processes[1], key, 1, 10_000)).toEqual([21]);
    }));

  it('are not counted before they are made near the limit, nor under a low one', () =>
    countedByHost(host, async () => {
      const [near, low] = [newId(), newId()];
      await windows.acquire(near, { windowMs: MINUTE_MS }, 5_000);
      expect(await call(processes[0], near, 20, 10_000)).toHaveLength(20);
      expect(await countOf(near)).toBe(5_020);
      expect(await call(processes[0], low, 20, 240)).toEqual(upTo(20));
      expect(await countOf(low)).toBe(20);
    }));
});
