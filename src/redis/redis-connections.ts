import { Injectable, OnApplicationShutdown } from '@nestjs/common';
import Redis, { Cluster, type RedisOptions } from 'ioredis';
import { Config } from '../config/config';

const MAX_RECONNECT_DELAY_MS = 1_000;
const PROBE_MS = 2_000;
/** Name of a key that never exists. To delete it changes nothing, but a replica refuses the command. */
const NO_KEY = 'primary:probe';
/** Milliseconds after which a silent Sentinel is skipped for the next, as ioredis itself has no limit. */
const SENTINEL_TIMEOUT_MS = 2_000;

export type RedisConnection = Redis | Cluster;

interface ConnectionOptions extends RedisOptions {
  /** Whether to test every 2 s that it leads to the primary, because its own commands do not show this. */
  probesForPrimary?: boolean;
}

/** Opens all connections of this process to Redis: a server, a primary that Sentinels know, or a Cluster. */
@Injectable()
export class RedisConnections implements OnApplicationShutdown {
  private readonly connections: RedisConnection[] = [];
  private readonly shared = new Map<string, RedisConnection>();
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
    // Closes connections that Bull opens while the process stops.
    connection.on('connect', () => this.isClosed && connection.disconnect());
    this.connections.push(connection);
    if (connection instanceof Cluster) connection.on('+node', clearSocketTimeoutOnClose);
    else clearSocketTimeoutOnClose(connection);
    // In a Cluster no test is needed, because a replica redirects each command to its primary.
    if (probesForPrimary && connection instanceof Redis) this.probes.push(probeForPrimary(connection));
    return connection;
  }

  /** Opens a connection for the first caller with this name, and returns it to all later callers. */
  connectOnce(name: string, options: ConnectionOptions): RedisConnection {
    const connection = this.shared.get(name) ?? this.connect(options);
    // Each user of the connection adds some listeners.
    connection.setMaxListeners(0);
    this.shared.set(name, connection);
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
      // Makes ioredis follow a failover at once, and not only when the old primary ends the connection.
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
      // Connects to a node by the host name that it announces, because TLS certificates name hosts.
      dnsLookup: (host, found) => found(null, host),
    });
  }
}

/**
 * Returns a channel's name with the database's number in it. Otherwise services with different databases of
 * one server would receive each other's messages, because Redis has one space of channels for all databases.
 */
export function channelIn(connection: RedisConnection, channel: string): string {
  const database = connection instanceof Redis ? connection.options.db : 0;
  return database ? `${database}:${channel}` : channel;
}

/**
 * Reports whether an error calls for a new connection; ioredis calls it as `reconnectOnError`. After a
 * failover, an open connection may lead to the old primary, which refuses writes with READONLY because it is
 * a replica now. A new connection to the same address leads to the new primary.
 */
function reconnectOnReadOnly({ message }: Error): boolean {
  return message.includes('READONLY'); // Redis 6 puts other words before READONLY when a script writes.
}

/**
 * Sends a write that changes nothing every 2 s. A replica refuses it, and `reconnectOnError` then replaces
 * the connection. Without it, PUBLISH would go on at a replica, which accepts it although the subscribers are
 * connected to the new primary.
 * @returns a function that stops the writes
 */
function probeForPrimary(redis: Redis): () => void {
  const timer = setInterval(() => {
    // A failure is ignored here, because `reconnectOnError` handles it.
    if (redis.status === 'ready') redis.del(NO_KEY).catch(() => undefined);
  }, PROBE_MS);
  timer.unref();
  return () => clearInterval(timer);
}

/** Part of ioredis's own Sentinel connector that its types leave out. */
interface SentinelConnector {
  failoverDetector: { cleanup(): void } | null;
}

/**
 * Ends a connection's subscriptions to the Sentinels when ioredis begins to reconnect; the new connection
 * subscribes again.
 *
 * Otherwise ioredis leaves the subscriptions open. If one Sentinel announces a new primary while ioredis asks
 * another for the address, ioredis takes the announcement for a call of `disconnect()`, and never reconnects.
 */
function endFailoverDetectorOnReconnect(redis: Redis): void {
  redis.on('reconnecting', () => (redis['connector'] as SentinelConnector).failoverDetector?.cleanup());
}

/**
 * Clears the timer of `socketTimeout` when a connection closes. ioredis 5 leaves the timer running
 * (redis/ioredis#2147, fixed in 6.0.0, which Bull 4 cannot use): it would close the next connection, or keep
 * the process alive.
 */
export function clearSocketTimeoutOnClose(redis: Redis): void {
  redis.on('close', () => {
    clearTimeout(redis['socketTimeoutTimer'] as NodeJS.Timeout | undefined);
    redis['socketTimeoutTimer'] = undefined;
  });
}
