import { setImmediate as nextTick } from 'node:timers/promises';
import Redis from 'ioredis';
import { RedisSubscriber } from '../../src/redis/redis-subscriber';
import { OwnRedis } from '../support/own-redis';
import { redisConnections } from '../support/redis-connections';
import { waitFor } from '../support/wait';

const CHANNELS = Array.from({ length: 64 }, (_, n) => `channel:${n}`);

describe('Redis subscriber', () => {
  let redis: OwnRedis;
  let publisher: Redis;

  beforeAll(async () => {
    redis = await OwnRedis.start();
    publisher = new Redis(redis.url);
  });
  afterAll(async () => {
    publisher.disconnect();
    await redis.stop();
  });

  it('hears every channel, however soon after its connection it subscribes', async () => {
    for (let ticks = 0; ticks < 40; ticks++) {
      const connections = redisConnections(redis.url);
      const subscriber = new RedisSubscriber(connections);
      const heard = new Set<string>();
      void subscriber.subscribe('first', () => undefined);
      for (let n = 0; n < ticks; n++) await nextTick();
      for (const channel of CHANNELS) void subscriber.subscribe(channel, () => heard.add(channel));
      await waitFor('every channel', async () => {
        for (const channel of CHANNELS) await publisher.publish(channel, 'told');
        return heard.size === CHANNELS.length;
      });
      subscriber.onApplicationShutdown();
      connections.onApplicationShutdown();
    }
  });
});
