import Redis from 'ioredis';
import { newId } from '../../src/common/ids';
import { RedisSignals, Signal } from '../../src/redis/redis-signals';
import { OwnRedis } from '../support/own-redis';
import { TestService } from '../support/service';
import { createStores, dropStores, TestStores } from '../support/test-database';
import { waitFor } from '../support/wait';

const SHARDS = 64;
const TOLD: Signal<string> = { name: 'test:told' };

const signalsOf = ({ app }: TestService) => app.get(RedisSignals, { strict: false });

describe('the shards of signals', () => {
  let redis: OwnRedis;
  let observer: Redis;
  let stores: TestStores;
  const workers: TestService[] = [];
  /** Workspaces of which each worker was told. */
  const heardTenants: Set<string>[] = [];
  let elsewhere: TestService;

  beforeAll(async () => {
    redis = await OwnRedis.start();
    observer = new Redis(redis.url);
    stores = { ...(await createStores()), redisUrl: redis.url };
    for (let n = 0; n < 2; n++) await startWorker();
    const otherStores = { ...stores, redisUrl: `${redis.url}/1` };
    elsewhere = await TestService.create({ role: 'worker', beside: { stores: otherStores } });
    signalsOf(elsewhere).listen(TOLD, () => undefined);
  });
  afterAll(async () => {
    await elsewhere.close();
    for (const worker of workers) await worker.close();
    observer.disconnect();
    await dropStores(stores);
    await redis.stop();
  });

  async function startWorker(): Promise<void> {
    const worker = await TestService.create({ role: 'worker', beside: { stores } });
    const tenants = new Set<string>();
    signalsOf(worker).listen(TOLD, (tenantId) => tenants.add(tenantId));
    workers.push(worker);
    heardTenants.push(tenants);
  }

  /** Returns how many workers hear each shard. */
  async function listeners(prefix = ''): Promise<number[]> {
    const channels = Array.from({ length: SHARDS }, (_, shard) => `${prefix}${TOLD.name}:${shard}`);
    const answer = await observer.pubsub('NUMSUB', ...channels);
    return answer.filter((_, n) => n % 2 === 1) as number[];
  }

  const eachIsHeardOnce = (prefix?: string) =>
    waitFor('one worker for each shard', async () => (await listeners(prefix)).every((count) => count === 1));

  /** Sends signals about so many workspaces, and returns which of the workers heard them. */
  async function heardBy(count: number): Promise<number[]> {
    const tenantIds = Array.from({ length: count }, newId);
    // A worker that has stopped may count as a listener until Redis sees that it is gone, so a lost signal is
    // sent again.
    await waitFor('every signal', () => {
      const lost = tenantIds.filter((tenantId) => !heardTenants.some((tenants) => tenants.has(tenantId)));
      for (const tenantId of lost) signalsOf(workers[0]!).send(TOLD, tenantId, tenantId);
      return lost.length === 0;
    });
    return heardTenants.map((tenants) => tenantIds.filter((tenantId) => tenants.has(tenantId)).length);
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
    heardTenants.pop();
    await eachIsHeardOnce();
    expect(await heardBy(50)).toEqual([50]);
  });

  it('are shared again after Redis was emptied, and with a worker that comes', async () => {
    await observer.flushall();
    await startWorker();
    await eachIsHeardOnce();
    const heard = await heardBy(200);
    for (const count of heard) expect(count).toBeGreaterThan(0);
  });
});
