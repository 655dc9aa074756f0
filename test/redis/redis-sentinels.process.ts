import { RedisClient } from '../../src/redis/redis-client';
import { RedisConnections } from '../../src/redis/redis-connections';
import { makeServerContext, ServerContext, withLogs } from '../support/server-context';
import { redisConnections } from '../support/redis-connections';
import { RedisSentinels } from '../support/redis-sentinels.mjs';
import { waitFor } from '../support/wait';

const CLIENTS = 3;

describe('when a primary under Sentinels is killed', () => {
  let context: ServerContext;
  let redis: RedisSentinels;
  let connections: RedisConnections;

  beforeEach(async () => {
    context = await makeServerContext();
    redis = await RedisSentinels.start(context);
    connections = redisConnections(redis.url);
  });
  afterEach(async () => {
    connections.onApplicationShutdown();
    for (const sentinel of redis.sentinels) sentinel.resume();
    redis.disconnect();
    await context.reaper.finish();
  });

  it('every connection finds the new one, although the Sentinel that it asks first hangs', async () => {
    const clients = Array.from({ length: CLIENTS }, () => new RedisClient(connections));
    await waitFor('Redis', () => clients.every(({ isReady }) => isReady));
    const primary = await redis.primary();
    const [first] = redis.sentinels;

    first!.hang();
    await primary.kill();
    await waitFor('the connections to notice', () => clients.every(({ isReady }) => !isReady));
    await withLogs(context, async () => {
      await waitFor('the new primary', () => clients.every(({ isReady }) => isReady));
    });
    await Promise.all(clients.map((client) => client.ping()));
  });
});
