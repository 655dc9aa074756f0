import Redis from 'ioredis';
import { OwnRedis } from './own-redis';
import { TcpProxy } from './tcp-proxy';
import { letTimePass, waitFor } from './wait';

/**
 * Makes a server a replica of another one with the same password, and waits until it has the other one's
 * data.
 */
export async function makeReplica(replicaUrl: string, primaryUrl: string): Promise<void> {
  const { hostname, port, password } = new URL(primaryUrl);
  await withRedis(replicaUrl, async (redis) => {
    await redis.config('SET', 'masterauth', password);
    await redis.replicaof(hostname, port);
    await waitFor('the replica', async () =>
      (await redis.info('replication')).includes('master_link_status:up'),
    );
  });
}

/** Makes a replica a primary. */
export function promote(url: string): Promise<void> {
  return withRedis(url, async (redis) => void (await redis.replicaof('NO', 'ONE')));
}

/** Makes a primary send its data to a replica at once, and not after 5 s. */
export function replicateAtOnce(primaryUrl: string): Promise<void> {
  return withRedis(
    primaryUrl,
    async (redis) => void (await redis.config('SET', 'repl-diskless-sync-delay', 0)),
  );
}

/** Counts the writes that a replica refuses in a time. */
export function refusedWrites(replicaUrl: string, ms: number): Promise<number> {
  return withRedis(replicaUrl, async (redis) => {
    await redis.config('RESETSTAT');
    await letTimePass(ms);
    return Number(/errorstat_READONLY:count=(\d+)/.exec(await redis.info('errorstats'))?.[1] ?? 0);
  });
}

/**
 * Two Redis servers behind one address, as behind a host name or a load balancer. After a failover new
 * connections lead to the new primary, and open ones still to the old one.
 */
export class RedisPair {
  private constructor(
    private primary: OwnRedis,
    private replica: OwnRedis,
    private readonly proxy: TcpProxy,
  ) {}

  static async start(): Promise<RedisPair> {
    const primary = await OwnRedis.start();
    const replica = await OwnRedis.start(new URL(primary.url).password);
    for (const { url } of [primary, replica]) await replicateAtOnce(url);
    await makeReplica(replica.url, primary.url);
    return new RedisPair(primary, replica, await TcpProxy.start(primary.url));
  }

  /** Address that leads to the server which is the primary at the moment of connecting. */
  get address(): string {
    return this.proxy.address;
  }

  get primaryUrl(): string {
    return this.primary.url;
  }

  /** Makes the replica the primary. The old primary goes on as a replica, and closes no connection. */
  async failOver(): Promise<void> {
    [this.primary, this.replica] = [this.replica, this.primary];
    await promote(this.primary.url);
    this.proxy.switchTo(this.primary.url);
    await makeReplica(this.replica.url, this.primary.url);
  }

  async stop(): Promise<void> {
    await this.proxy.cut();
    await Promise.all([this.primary.stop(), this.replica.stop()]);
  }
}

async function withRedis<T>(url: string, work: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis(url);
  try {
    return await work(redis);
  } finally {
    redis.disconnect();
  }
}
