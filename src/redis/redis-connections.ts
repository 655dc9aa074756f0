import { Injectable, OnApplicationShutdown } from '@nestjs/common';
import Redis, { Cluster, type RedisOptions } from 'ioredis';
import { Config } from '../config/config';
import { endFailoverDetectorOnReconnect } from './failover-detector';
import { probeForPrimary, reconnectOnReadOnly } from './primary';
import { clearSocketTimeoutOnClose } from './socket-timeout';

const MAX_RECONNECT_DELAY_MS = 1_000;
/**
 * Time after which a Sentinel that does not answer is passed over for the next one. Without a limit, ioredis
 * would wait for a hanging Sentinel without end.
 */
const SENTINEL_TIMEOUT_MS = 2_000;

export type RedisConnection = Redis | Cluster;

interface ConnectionOptions extends RedisOptions {
  /** True for a connection whose own commands do not show that it leads to a replica. */
  probesForPrimary?: boolean;
}

/**
 * Opens every connection of this process to Redis: to one server, to the primary that Sentinels know, or to a
 * Cluster.
 */
@Injectable()
export class RedisConnections implements OnApplicationShutdown {
  private readonly connections: RedisConnection[] = [];
  private readonly probes: (() => void)[] = [];
  private isClosed = false;

  constructor(private readonly config: Config) {}

  get isCluster(): boolean {
    return this.config.redis.kind === 'cluster';
  }

  /** Opens a connection. It reconnects after every failure, and is closed when the process stops. */
  connect({ probesForPrimary, ...own }: ConnectionOptions): RedisConnection {
    const connection = this.open({
      retryStrategy: (times) => Math.min(times * 50, MAX_RECONNECT_DELAY_MS),
      reconnectOnError: reconnectOnReadOnly,
      ...own,
    });
    // Bull may connect again while it closes.
    connection.on('connect', () => this.isClosed && connection.disconnect());
    this.connections.push(connection);
    if (connection instanceof Cluster) connection.on('+node', clearSocketTimeoutOnClose);
    else clearSocketTimeoutOnClose(connection);
    // In a Cluster, a replica that is asked for a key of its primary sends the client to the primary.
    if (probesForPrimary && connection instanceof Redis) this.probes.push(probeForPrimary(connection));
    return connection;
  }

  onApplicationShutdown(): void {
    this.isClosed = true;
    for (const stop of this.probes) stop();
    for (const connection of this.connections) connection.disconnect();
  }

  private open(options: RedisOptions): RedisConnection {
    const { redis } = this.config;
    if (redis.kind === 'server') return new Redis(redis.url, options);
    const { hosts, username, password } = redis;
    const access = { username, password, ...(redis.isTls && { tls: {} }) };
    if (redis.kind === 'cluster') return this.openCluster(hosts, { ...options, ...access });
    const { name, db, sentinelPassword } = redis;
    const connection = new Redis({
      ...options,
      ...access,
      sentinels: hosts,
      name,
      db,
      sentinelPassword,
      sentinelCommandTimeout: SENTINEL_TIMEOUT_MS,
      ...(redis.isTls && { sentinelTLS: {}, enableTLSForSentinelMode: true }),
      // Follows a failover at once, and not only when the old primary ends the connection.
      failoverDetector: true,
    });
    endFailoverDetectorOnReconnect(connection);
    return connection;
  }

  private openCluster(
    hosts: { host: string; port: number }[],
    { retryStrategy, enableOfflineQueue, ...redisOptions }: RedisOptions,
  ): Cluster {
    return new Cluster(hosts, {
      redisOptions,
      enableOfflineQueue,
      clusterRetryStrategy: retryStrategy,
      shardedSubscribers: true,
      // A node is asked by the name that it announces: certificates name hosts.
      dnsLookup: (host, found) => found(null, host),
    });
  }
}

/**
 * Returns the name of a channel of a connection's database. Redis has the channels of all databases in one
 * space, so services that share a server would hear each other.
 */
export function channelIn(connection: RedisConnection, channel: string): string {
  const database = connection instanceof Redis ? connection.options.db : 0;
  return database ? `${database}:${channel}` : channel;
}
