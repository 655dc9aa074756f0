import { newId } from '../../src/common/ids';
import { FixedWindows } from '../../src/redis/fixed-windows';
import { countedByHost } from '../support/counted-in-redis';
import { MessagingHost } from '../support/messaging-host';
import { letTimePass } from '../support/wait';

const MINUTE = { windowMs: 60_000 };
const TEN = { ...MINUTE, max: 10 };

describe.each([
  ['in Redis', true, {}],
  ['in memory, while Redis is away', false, { redisUrl: 'redis://127.0.0.1:1' }],
])('fixed windows %s', (_, isInRedis, options) => {
  let host: MessagingHost;
  let windows: FixedWindows;

  beforeAll(async () => {
    host = await MessagingHost.create(options);
    windows = host.get(FixedWindows);
  });

  const withKey = (attempt: (key: string) => Promise<void>) =>
    isInRedis ? countedByHost(host, () => attempt(newId())) : attempt(newId());
  const grantedOf = async (key: string, wanted: number) => (await windows.acquire(key, TEN, wanted)).granted;

  it('grant no more than their limit, however many want it at once', () =>
    withKey(async (key) => {
      const granted = await Promise.all(Array.from({ length: 20 }, () => grantedOf(key, 3)));
      expect(granted.reduce((sum, count) => sum + count)).toBe(10);
      expect(await windows.acquire(key, TEN)).toMatchObject({ used: 10, granted: 0 });
      expect(await grantedOf(newId(), 3)).toBe(3);
    }));

  it('count everything without a limit', () =>
    withKey(async (key) => {
      for (const used of [1, 2, 3])
        expect(await windows.acquire(key, MINUTE)).toMatchObject({ used, granted: 1 });
    }));

  it('grant what was given back, and no more than that', () =>
    withKey(async (key) => {
      expect(await grantedOf(key, 20)).toBe(10);
      await windows.giveBack(key, 4);
      expect(await grantedOf(key, 20)).toBe(4);
      await windows.giveBack(key, 100);
      expect(await grantedOf(key, 20)).toBe(10);
      const other = newId();
      await windows.giveBack(other);
      expect(await grantedOf(other, 20)).toBe(10);
    }));

  it('end, however much was refused', () =>
    withKey(async (key) => {
      const one = { windowMs: 2_000, max: 1 };
      expect((await windows.acquire(key, one)).granted).toBe(1);
      await letTimePass(500);
      const { granted, endsInMs } = await windows.acquire(key, one);
      expect(granted).toBe(0);
      expect(endsInMs).toBeLessThanOrEqual(1_500);
      await letTimePass(endsInMs + 50);
      expect((await windows.acquire(key, one)).granted).toBe(1);
    }));

  it('are read without counting, unless each process counts for itself', () =>
    withKey(async (key) => {
      const unused = isInRedis ? { used: 0, endsInMs: 0 } : null;
      expect(await windows.read(key)).toEqual(unused);
      await windows.acquire(key, MINUTE, 7);
      const used = isInRedis ? { used: 7, endsInMs: expect.any(Number) } : null;
      expect(await windows.read(key)).toEqual(used);
      expect(await windows.read(key)).toEqual(used);
    }));
});
