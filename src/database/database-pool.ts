import { DatabaseError, Pool, PoolClient, PoolConfig } from 'pg';
import { DatabaseClient } from './database-client';
import { DatabaseUnavailable } from './database-errors';
import { DatabaseHosts } from './database-hosts';

type Callback = (
  error: Error | undefined,
  client: PoolClient | undefined,
  release: PoolClient['release'],
) => void;
type PrimaryClient = PoolClient & DatabaseClient;

/**
 * SQLSTATEs of a server that starts up or shuts down. Any other error that PostgreSQL reports comes from a
 * server that works.
 */
const IS_NOT_UP = /^57P0/;
/** Message of pg's error when all connections are in use, which says nothing about a host. */
const POOL_IS_FULL = 'timeout exceeded when trying to connect';

/** A pool of connections to the primary, whichever host that is. */
export class DatabasePool extends Pool {
  private readonly hosts: DatabaseHosts;

  constructor(options: PoolConfig & { hosts: DatabaseHosts }) {
    const { hosts } = options;
    super({ ...options, onConnect: (client) => (client as DatabaseClient).requirePrimary() });
    this.hosts = hosts;
  }

  override connect(): Promise<PoolClient>;
  override connect(callback: Callback): void;
  override connect(callback?: Callback): Promise<PoolClient> | void {
    const connecting = this.connectToPrimary();
    if (!callback) return connecting;
    connecting.then(
      (client) => callback(undefined, client, (error) => client.release(error)),
      (error: Error) => callback(error, undefined, () => undefined),
    );
  }

  /** Has each connection replaced by a new one before its next use. */
  renew(): void {
    this.hosts.renew();
  }

  /**
   * Connects to the primary; tries each host once. A connection that leads to a former primary is replaced.
   * @throws DatabaseUnavailable with the last error
   */
  private async connectToPrimary(): Promise<PrimaryClient> {
    for (let failures = 0; ;) {
      const host = this.hosts.current;
      try {
        const client = (await super.connect()) as PrimaryClient;
        if (client.isCurrent) return client;
        client.release(true);
      } catch (error) {
        const mayPass = mayAnotherServe(error as Error);
        if (mayPass) this.hosts.pass(host);
        failures += 1;
        if (!mayPass || failures === this.hosts.count) throw new DatabaseUnavailable(error as Error);
      }
    }
  }
}

/**
 * Reports whether another host may be the primary now: this one does not answer, is not up, or refuses
 * writes.
 */
function mayAnotherServe(error: Error): boolean {
  if (error instanceof DatabaseError) return IS_NOT_UP.test(error.code ?? '');
  return error.message !== POOL_IS_FULL;
}
