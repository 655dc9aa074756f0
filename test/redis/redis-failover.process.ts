import Bull from 'bull';
import Redis from 'ioredis';
import { RedisSubscriber } from '../../src/redis/redis-subscriber';
import { queueOptions } from '../../src/queue/register-queue';
import { RedisClient } from '../../src/redis/redis-client';
import { RedisConnections } from '../../src/redis/redis-connections';
import { FixedWindows } from '../../src/redis/fixed-windows';
import { Metrics } from '../../src/metrics/metrics';
import { redisConnections } from '../support/redis-connections';
import { RedisPair } from '../support/redis-failover';
import { TestService } from '../support/service';
import { waitFor } from '../support/wait';

describe('after a failover of Redis that leaves the old primary connected as a replica', () => {
  let pair: RedisPair;
  let connections: RedisConnections;
  /** Client of the new primary itself, which is at first the replica. */
  let primary: Redis;

  beforeEach(async () => {
    pair = await RedisPair.start();
    connections = redisConnections(pair.address);
  });
  afterEach(async () => {
    connections.onApplicationShutdown();
    primary.disconnect();
    await pair.stop();
  });

  async function failOver(): Promise<void> {
    await pair.failOver();
    primary = new Redis(pair.primaryUrl);
    await primary.flushall();
  }

  const jobs = () => new Bull('jobs', queueOptions('jobs', connections) as Bull.QueueOptions);

  const keysAtPrimary = (pattern: string) => primary.keys(pattern);

  it('the API counts calls at the new primary, and answers all the time', async () => {
    const service = await TestService.create({ env: { REDIS_URL: pair.address } });
    try {
      const workspace = await service.make.workspace();
      const client = service.client.as(await service.make.apiKey(workspace));
      const call = async () => expect((await client.get('/me')).status).toBe(200);
      await call();

      await failOver();

      await waitFor('a count at the new primary', async () => {
        await call();
        return (await keysAtPrimary('rate:*')).length;
      });
    } finally {
      await service.close();
    }
  });

  it('what fixed windows grant is counted at the new primary', async () => {
    const client = new RedisClient(connections);
    const windows = new FixedWindows(client, new Metrics());
    const acquire = () => windows.acquire('throughput:endpoint', { windowMs: 1_000, max: 10 });
    await waitFor('Redis', () => client.isReady);
    await acquire();

    await failOver();

    // Until then this process counts by itself.
    const keys = await waitFor('a count at the new primary', async () => {
      await acquire();
      const found = await keysAtPrimary('throughput:*');
      return found.length > 0 ? found : null;
    });
    expect(keys).toEqual(['throughput:endpoint']);
  });

  it('a process that only publishes reaches the listeners of the new primary', async () => {
    const client = new RedisClient(connections);
    await waitFor('Redis', () => client.isReady);
    await failOver();
    let heard = 0;
    await primary.subscribe('a channel');
    primary.on('message', () => (heard += 1));

    await waitFor('a message at the new primary', async () => {
      await client.publish('a channel', '').catch(() => undefined);
      return heard;
    });
  });

  it('a subscriber hears what is published at the new primary', async () => {
    const subscriber = new RedisSubscriber(connections);
    let heard = 0;
    void subscriber.subscribe('a channel', () => (heard += 1));
    const speaker = new Redis(pair.primaryUrl);
    await waitFor('a message', async () => (await speaker.publish('a channel', ''), heard));
    speaker.disconnect();

    await failOver();

    heard = 0;
    await waitFor(
      'a message from the new primary',
      async () => (await primary.publish('a channel', ''), heard),
    );
  });

  it('a worker takes jobs from the new primary', async () => {
    const queue = jobs();
    try {
      const done: string[] = [];
      void queue.process(({ data }: { data: { id: string } }) => void done.push(data.id));
      await queue.add({ id: 'before' });
      await waitFor('a job', () => done.includes('before'));

      await failOver();

      const other = new Bull('jobs', pair.primaryUrl);
      await waitFor('a job at the new primary', async () => {
        // A job that a connection takes before the next connection has found the new primary is taken again
        // much later.
        await other.add({ id: 'after' });
        return done.includes('after');
      });
      await other.close();
    } finally {
      await queue.close();
    }
  });

  it('a process that only adds jobs, many at once, adds them at the new primary', async () => {
    const queue = jobs();
    try {
      await queue.addBulk([{ data: {} }, { data: {} }]);

      await failOver();

      await waitFor('a job at the new primary', async () => {
        // Bull ignores the refusals of a transaction's commands.
        await queue.addBulk([{ data: {} }, { data: {} }]);
        return (await keysAtPrimary('bull:jobs:wait')).length;
      });
    } finally {
      await queue.close();
    }
  });
});
