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
/**
 * Milliseconds between two checks for unused connections. They are longer than the pauses of periodic work:
 * with 10 s, a process at rest would open a dozen connections a minute.
 */
const CHECK_UNUSED_MS = 60_000;

/** Members of pg's pool that its types leave out. */
interface PgPool {
  _idle: { client: PoolClient }[];
  _remove(client: PoolClient, callback: () => void): void;
  _pulseQueue(): void;
}

/** Opens and pools connections to the primary, on whichever of the address's hosts it is at the time. */
export class DatabasePool extends Pool {
  private readonly hosts: DatabaseHosts;
  private readonly checkUnusedMs: number;
  /** Fault of the last new connection, if only an operator can repair it; null otherwise. */
  private lastingFault: string | null = null;
  /** Idle connections at the last check that no caller has used since. */
  private readonly unused = new Set<PoolClient>();
  private unusedCheck: NodeJS.Timeout | undefined;

  /** @param options.checkUnusedMs milliseconds between two checks for unused connections; by default 60 s */
  constructor(options: PoolConfig & { hosts: DatabaseHosts; checkUnusedMs?: number }) {
    const { hosts, checkUnusedMs = CHECK_UNUSED_MS } = options;
    super({
      ...options,
      // pg's pool would start a timer for each connection that is released.
      idleTimeoutMillis: 0,
      onConnect: (client) => (client as DatabaseClient).requirePrimary(),
    });
    this.hosts = hosts;
    this.checkUnusedMs = checkUnusedMs;
    this.on('connect', () => (this.lastingFault = null));
    this.on('acquire', (client) => this.unused.delete(client));
    this.on('remove', (client) => this.unused.delete(client));
    this.on('release', () => this.planCheck());
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
        const client = (await this.connectInTime()) as PrimaryClient;
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

  /** Obtains a connection without pg's timer for the time limit, if one is idle and will be given at once. */
  private connectInTime(): Promise<PoolClient> {
    const { connectionTimeoutMillis } = this.options;
    if (this.idleCount > this.waitingCount) this.options.connectionTimeoutMillis = 0;
    const connecting = super.connect();
    this.options.connectionTimeoutMillis = connectionTimeoutMillis;
    return connecting;
  }

  private planCheck(): void {
    this.unusedCheck ??= setTimeout(() => this.closeUnused(), this.checkUnusedMs).unref();
  }

  /** Closes the connections that no caller has used since the last check. */
  private closeUnused(): void {
    this.unusedCheck = undefined;
    const pool = this as unknown as PgPool;
    for (const { client } of [...pool._idle]) {
      if (this.unused.has(client)) pool._remove(client, () => pool._pulseQueue());
      else this.unused.add(client);
    }
    if (this.unused.size > 0) this.planCheck();
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
