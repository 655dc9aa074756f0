import { Injectable, Logger } from '@nestjs/common';
import type Redis from 'ioredis';
import { startDeadline } from '../common/deadlines';
import { channelIn, RedisConnection, RedisConnections } from './redis-connections';

const REPLY_TIMEOUT_MS = 100;
/** Milliseconds without an answer after which a connection counts as dead and is replaced. */
const SOCKET_TIMEOUT_MS = 2_000;

type Script<Reply> = (key: string, ...values: (string | number)[]) => Promise<Reply>;

/**
 * Sends short commands for which a request waits. They fail at once while Redis is down, and after 100 ms
 * while it hangs. Queues and subscriptions use connections of their own.
 */
@Injectable()
export class RedisClient {
  private readonly connection: RedisConnection;

  constructor(private readonly connections: RedisConnections) {
    this.connection = connections.connect({
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      socketTimeout: SOCKET_TIMEOUT_MS,
      probesForPrimary: true,
    });
    const logger = new Logger(RedisClient.name);
    this.connection.on('error', (error: Error) => logger.warn({ err: error }, 'Redis is down'));
  }

  get isReady(): boolean {
    return this.connection.status === 'ready';
  }

  async ping(): Promise<void> {
    await this.send(() => this.connection.ping());
  }

  /**
   * Publishes a message to the subscribers of a channel. In a Cluster, the node to which the channel belongs
   * passes the message on.
   * @returns the number of connections that have received the message
   */
  async publish(channel: string, message: string): Promise<number> {
    const { isCluster } = this.connections;
    const name = channelIn(this.connection, channel);
    // ioredis's type for `spublish` is wrong: it resolves to a number, like `publish`.
    return this.send(() =>
      isCluster
        ? (this.connection.spublish(name, message) as Promise<number>)
        : this.connection.publish(name, message),
    );
  }

  /** Returns a function that runs a Lua script on one key: in a Cluster, on the node that has the key. */
  script<Reply>(name: string, lua: string): Script<Reply> {
    this.connection.defineCommand(name, { numberOfKeys: 1, lua });
    const command = (this.connection as unknown as Record<string, Script<Reply>>)[name]!;
    return (key, ...values) => this.send(() => command.call(this.connection, key, ...values));
  }

  private send<T>(command: () => Promise<T>): Promise<T> {
    this.corkUntilNextTurn();
    return new Promise((resolve, reject) => {
      const end = startDeadline(REPLY_TIMEOUT_MS, () =>
        reject(new Error(`Redis did not answer within ${REPLY_TIMEOUT_MS} ms`)),
      );
      command().then(resolve, reject).finally(end);
    });
  }

  /**
   * Sends all commands of one tick of the event loop in one packet. With 16 concurrent callers, `GET /me`
   * takes 135 µs of CPU time instead of 146 µs. It does nothing in a Cluster, where each node has a
   * connection of its own.
   */
  private corkUntilNextTurn(): void {
    const { stream } = this.connection as Partial<Redis>;
    if (!stream || stream.writableCorked > 0) return;
    stream.cork();
    setImmediate(() => stream.uncork());
  }
}
