import Bull, { Queue } from 'bull';
import { Config } from '../../src/config/config';
import { parseRedisAddress } from '../../src/config/redis-address';
import { queueOptions } from '../../src/queue/register-queue';
import { RedisConnections } from '../../src/redis/redis-connections';

/** Connections as the service has them, but outside of it. `onApplicationShutdown()` closes them. */
export function redisConnections(redisUrl: string): RedisConnections {
  return new RedisConnections({ redis: parseRedisAddress(redisUrl) } as Config);
}

/** A queue as the service has it, but outside of it. */
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
