import { Client } from 'pg';
import { startPgBouncer } from '../../scripts/servers/pgbouncer.mjs';
import { makeServerContext, ServerContext } from './server-context';
import { direct, TestStores } from './test-database';
import { forgetStop, stopAtEnd } from './stop-at-end';

/** State of a pool, as PgBouncer reports it. */
interface PoolState {
  database: string;
  cl_active: string;
  cl_waiting: string;
  sv_active: string;
  sv_idle: string;
}

/** PgBouncer of one test, between the service and one database. */
export class Pooler {
  private constructor(
    readonly stores: TestStores,
    /** Environment for the service behind the pooler. */
    readonly env: Record<string, string>,
    private readonly consoleUrl: string,
    private readonly reaper: ServerContext['reaper'],
  ) {}

  /**
   * Starts a PgBouncer.
   * @param serverConnections connections to the database, for all clients together
   */
  static async start(given: TestStores, serverConnections: number): Promise<Pooler> {
    const { home, reaper } = await makeServerContext();
    const databaseUrl = direct(given.databaseUrl);
    const ownerUrl = given.databaseOwnerUrl && direct(given.databaseOwnerUrl);
    const urls: [string, ...string[]] = [databaseUrl, ...(ownerUrl ? [ownerUrl] : [])];
    const pooler = await startPgBouncer({ urls, home, reaper, serverConnections });
    const { through, consoleUrl, isPrepared } = pooler;
    const stores = {
      ...given,
      databaseUrl: through(databaseUrl),
      ...(ownerUrl && { databaseOwnerUrl: through(ownerUrl) }),
    };
    const env = { DATABASE_PREPARED: isPrepared ? 'on' : 'off' };
    const started = new Pooler(stores, env, consoleUrl, reaper);
    return stopAtEnd(started, () => started.stop());
  }

  /** Returns the clients and server connections at this moment, summed up over the roles. */
  async state(): Promise<{ clients: number; servers: number }> {
    const client = new Client({ connectionString: this.consoleUrl });
    await client.connect();
    try {
      const { rows } = await client.query<PoolState>('SHOW POOLS');
      const name = new URL(this.stores.databaseUrl).pathname.slice(1);
      const sum = (...columns: (keyof PoolState)[]) =>
        rows
          .filter(({ database }) => database === name)
          .reduce((total, row) => total + columns.reduce((all, column) => all + Number(row[column]), 0), 0);
      return { clients: sum('cl_active', 'cl_waiting'), servers: sum('sv_active', 'sv_idle') };
    } finally {
      await client.end();
    }
  }

  async stop(): Promise<void> {
    if (!forgetStop(this)) return;
    await this.reaper.finish();
  }
}
