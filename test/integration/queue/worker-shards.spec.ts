import Redis from 'ioredis';
import { newId } from '../../../src/common/ids';
import { EVENT_APPENDED } from '../../../src/outbox/outbox.service';
import { RedisSignals } from '../../../src/redis/redis-signals';
import { OwnRedis } from '../../support/own-redis';
import { TestService } from '../../support/service';
import { createStores, dropStores, TestStores } from '../../support/test-database';
import { waitFor } from '../../support/wait';

const SHARDS = 64;

describe('the shards of signals', () => {
  let redis: OwnRedis;
  let observer: Redis;
  let stores: TestStores;
  const workers: TestService[] = [];
  let elsewhere: TestService;

  beforeAll(async () => {
    redis = await OwnRedis.start();
    observer = new Redis(redis.url);
    stores = { ...(await createStores()), redisUrl: redis.url };
    for (let n = 0; n < 2; n++)
      workers.push(await TestService.create({ role: 'worker', beside: { stores } }));
    const otherStores = { ...stores, redisUrl: `${redis.url}/1` };
    elsewhere = await TestService.create({ role: 'worker', beside: { stores: otherStores } });
  });
  afterAll(async () => {
    await elsewhere.close();
    for (const worker of workers) await worker.close();
    observer.disconnect();
    await dropStores(stores);
    await redis.stop();
  });

  /** Returns how many workers hear each shard. */
  async function listeners(prefix = ''): Promise<number[]> {
    const channels = Array.from({ length: SHARDS }, (_, shard) => `${prefix}outbox:appended:${shard}`);
    const answer = await observer.pubsub('NUMSUB', ...channels);
    return answer.filter((_, n) => n % 2 === 1) as number[];
  }

  const eachIsHeardOnce = (prefix?: string) =>
    waitFor('one worker for each shard', async () => (await listeners(prefix)).every((count) => count === 1));

  /** Sends signals about so many workspaces, and returns which of the workers heard them. */
  async function heardBy(count: number): Promise<number[]> {
    const heard = workers.map(() => 0);
    const signals = workers.map((worker) => worker.app.get(RedisSignals, { strict: false }));
    const tenantIds = Array.from({ length: count }, newId);
    const counted = new Set(tenantIds);
    for (const [n, signal] of signals.entries())
      signal.listen(EVENT_APPENDED, (tenantId) => (heard[n]! += counted.has(tenantId) ? 1 : 0));
    // A new listener of this process is ready once a signal of its shard has reached it.
    await eachIsHeardOnce();
    for (const tenantId of tenantIds) signals[0]!.send(EVENT_APPENDED, tenantId, tenantId);
    await waitFor('every signal', () => heard.reduce((sum, one) => sum + one, 0) >= count);
    return heard;
  }

  it('belong to one worker each, and are shared', async () => {
    await eachIsHeardOnce();
    const heard = await heardBy(200);
    expect(heard.reduce((sum, one) => sum + one, 0)).toBe(200);
    for (const count of heard) expect(count).toBeGreaterThan(0);
  });

  it('are not heard in another database of the same Redis', async () => {
    await eachIsHeardOnce('1:');
    await eachIsHeardOnce();
  });

  it('go to another worker when one stops', async () => {
    await workers.pop()!.close();
    await eachIsHeardOnce();
    expect(await heardBy(50)).toEqual([50]);
  });

  it('are shared again after Redis was emptied, and with a worker that comes', async () => {
    await observer.flushall();
    workers.push(await TestService.create({ role: 'worker', beside: { stores } }));
    await eachIsHeardOnce();
    const heard = await heardBy(200);
    for (const count of heard) expect(count).toBeGreaterThan(0);
  });
});
