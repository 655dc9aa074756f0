import { DatabaseError, Pool, PoolClient, PoolConfig } from 'pg';
import type { DataSource } from 'typeorm';
import { DatabaseClient } from './database-client';
import { DatabaseUnavailable, findLastingFault } from './database-errors';
import { DatabaseHosts } from './database-hosts';

type Callback = (
  error: Error | undefined,
  client: PoolClient | undefined,
  release: PoolClient['release'],
) => void;
type PrimaryClient = PoolClient & DatabaseClient;

/** SQLSTATEs of a server that starts up or shuts down. A server with any other SQLSTATE is up. */
const IS_NOT_UP = /^57P0/;
/** Message of pg's error when all connections are in use. It does not mean that the host is down. */
const POOL_IS_FULL = 'timeout exceeded when trying to connect';

/** Opens and pools connections to the primary, on whichever of the address's hosts it is at the time. */
export class DatabasePool extends Pool {
  private readonly hosts: DatabaseHosts;
  /** Fault of the last new connection, if only an operator can repair it; null otherwise. */
  private lastingFault: string | null = null;

  constructor(options: PoolConfig & { hosts: DatabaseHosts }) {
    const { hosts } = options;
    super({ ...options, onConnect: (client) => (client as DatabaseClient).requirePrimary() });
    this.hosts = hosts;
    this.on('connect', () => (this.lastingFault = null));
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

  /**
   * Returns the fault that an operator must repair before new connections can be opened, in words that may be
   * shown to anyone; null if none is known. If a fault is known, it first tries a new connection.
   */
  private async findLastingFault(): Promise<string | null> {
    if (this.lastingFault === null) return null;
    const client = new DatabaseClient(this.options);
    try {
      await client.connect();
      this.lastingFault = null;
    } catch (error) {
      this.lastingFault = findLastingFault(error);
    } finally {
      await client.end().catch(() => undefined);
    }
    return this.lastingFault;
  }

  /** Returns the reason why the database can't be used, in words that anyone may read; null if it works. */
  async findFault(): Promise<string | null> {
    const answers = await this.query('SELECT 1').then(
      () => true,
      () => false,
    );
    return (await this.findLastingFault()) ?? (answers ? null : 'is down');
  }

  /** Reports whether a statement has failed for lack of a privilege since the last call. */
  hasLackedPrivilege(): boolean {
    const hasLacked = this.hosts.hasLackedPrivilege;
    this.hosts.hasLackedPrivilege = false;
    return hasLacked;
  }

  renew(): void {
    this.hosts.renew();
  }

  /**
   * Returns a connection to the primary; tries each host once.
   * @throws DatabaseUnavailable with the last error as its cause
   */
  private async connectToPrimary(): Promise<PrimaryClient> {
    for (let failures = 0; ;) {
      const host = this.hosts.current;
      try {
        const client = (await super.connect()) as PrimaryClient;
        if (client.isCurrent) return client;
        client.release(true);
      } catch (error) {
        this.lastingFault = findLastingFault(error) ?? this.lastingFault;
        const mayPass = mayAnotherServe(error as Error);
        if (mayPass) this.hosts.pass(host);
        failures += 1;
        if (!mayPass || failures === this.hosts.count) throw new DatabaseUnavailable(error as Error);
      }
    }
  }
}

/** Reports whether to try another host, because this one does not answer, is not up, or refuses writes. */
function mayAnotherServe(error: Error): boolean {
  if (error instanceof DatabaseError) return IS_NOT_UP.test(error.code ?? '');
  return error.message !== POOL_IS_FULL;
}

export function poolOf({ driver }: DataSource): DatabasePool {
  return (driver as unknown as { master: DatabasePool }).master;
}
