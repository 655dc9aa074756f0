import Bull, { Queue } from 'bull';
import { Cluster } from 'ioredis';
import { Config } from '../../src/config/config';
import { parseRedisAddress } from '../../src/config/redis-address';
import { queueOptions } from '../../src/queue/register-queue';
import { RedisConnection, RedisConnections } from '../../src/redis/redis-connections';

/** Opens connections like the service's, but outside of it. `onApplicationShutdown()` closes them. */
export function redisConnections(redisUrl: string): RedisConnections {
  return new RedisConnections({ redis: parseRedisAddress(redisUrl) } as Config);
}

/** Opens a queue like the service's, but outside of it. */
export function openQueue<Data>(
  name: string,
  redisUrl: string,
): { queue: Queue<Data>; close(): Promise<void> } {
  const connections = redisConnections(redisUrl);
  const queue: Queue<Data> = new Bull(name, queueOptions(name, connections) as Bull.QueueOptions);
  const close = async () => {
    await queue.close();
    connections.onApplicationShutdown();
  };
  return { queue, close };
}

/** Opens one connection for a test. */
export function openRedis(redisUrl: string): RedisConnection {
  return redisConnections(redisUrl).connect({});
}

/**
 * Returns the address of a worker's own database.
 * @param worker number of Jest's worker: each has a database of its own, except in a Cluster, which has one
 *   database
 */
export function redisUrlOf(address: string, worker: string): string {
  if (address.startsWith('redis+cluster')) return address;
  return address.startsWith('redis+sentinel') ? `${address}/${worker}` : new URL(`/${worker}`, address).href;
}

export async function emptyRedis(redisUrl: string): Promise<void> {
  const redis = openRedis(redisUrl);
  if (redis instanceof Cluster) {
    await redis.ping(); // by now it knows its nodes
    await Promise.all(redis.nodes('master').map((node) => node.flushall()));
  } else await redis.flushdb();
  redis.disconnect();
}

/** Returns the keys that match a pattern, on every node of a Cluster. */
export async function keysOf(redis: RedisConnection, pattern: string): Promise<string[]> {
  await redis.ping(); // by now it knows its nodes
  const nodes = redis instanceof Cluster ? redis.nodes('master') : [redis];
  return (await Promise.all(nodes.map((node) => node.keys(pattern)))).flat();
}
