import { once } from 'node:events';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { freePort, startReaper } from '../../scripts/processes.mjs';
import { findHome } from '../../scripts/servers/home.mjs';
import { startPostgres } from '../../scripts/servers/postgres.mjs';
import { stopTree } from './process-tree';
import { waitFor } from './wait';

type Options = Parameters<typeof startPostgres>[0] & { port: number };
type Server = Awaited<ReturnType<typeof startPostgres>>;

interface ReplicaState {
  sync_state: 'sync' | 'async';
  pid: number;
}

/**
 * PostgreSQL with a streaming standby, both of one test. The standby starts from a copy of the stopped
 * primary's files, because the servers of npm's package have no pg_basebackup.
 */
export class PostgresPair {
  private promotedAt = 0;
  private silenced: number[] = [];

  private constructor(
    private readonly reaper: Awaited<ReturnType<typeof startReaper>>,
    private readonly primary: Server,
    private readonly standby: Server,
  ) {}

  /**
   * Starts both servers.
   * @param isSynchronous whether a commit waits until the standby has it
   * @param prepare runs on the primary before its files are copied, so that both servers have its result
   */
  static async start(
    { isSynchronous }: { isSynchronous: boolean },
    prepare: (primary: Server) => Promise<void>,
  ): Promise<PostgresPair> {
    const folder = mkdtempSync(join(tmpdir(), 'messaging-standby-'));
    chmodSync(folder, 0o755); // the servers may run as another user
    const reaper = await startReaper();
    const options = await optionsOf(folder, 'primary', reaper);
    let primary = await startPostgres(options);
    await prepare(primary);
    await stop(primary, reaper);

    const standbyOptions = await optionsOf(folder, 'standby', reaper);
    copyFiles(options, standbyOptions);
    const synchronous = { synchronous_standby_names: isSynchronous ? '*' : '' };
    primary = await startPostgres({ ...options, settings: synchronous, isStandby: true });
    const standby = await startPostgres({ ...standbyOptions, isStandby: true });
    const pair = new PostgresPair(reaper, primary, standby);
    await waitFor('the standby', async () => {
      const [replica] = await pair.replicas();
      return replica?.sync_state === (isSynchronous ? 'sync' : 'async');
    });
    return pair;
  }

  /** Returns the address of both hosts for one role, the standby first. */
  both(name: 'databaseUrl' | 'databaseOwnerUrl'): string {
    const [standby, primary] = [new URL(this.standby[name]), new URL(this.primary[name])];
    const { protocol, username, password, pathname } = primary;
    const hosts = `${standby.host},${primary.host}`;
    return `${protocol}//${username}:${password}@${hosts}${pathname}?target_session_attrs=read-write`;
  }

  /** Returns the addresses of the first primary, and of the standby that takes over. */
  urls(name: 'databaseUrl' | 'databaseOwnerUrl'): { primary: string; standby: string } {
    return { primary: this.primary[name], standby: this.standby[name] };
  }

  /** Address for the administrator of the first primary. */
  get adminUrl(): string {
    return this.primary.adminUrl;
  }

  /** Stops the replication: later commits of the primary do not reach the standby. */
  async holdReplication(): Promise<void> {
    const [replica] = await this.replicas();
    process.kill(replica!.pid, 'SIGSTOP');
  }

  /** Silences the primary: connections stay open but are not answered, as when its machine hangs. */
  silencePrimary(): void {
    this.silenced = stopTree(this.primary.child.pid!);
  }

  /** Kills all processes of the primary at once. Its machine still refuses new connections. */
  async killPrimary(): Promise<void> {
    const { child } = this.primary;
    const exited = once(child, 'exit');
    // Stopped processes do not see another one end.
    if (this.silenced.length === 0) this.silencePrimary();
    for (const pid of this.silenced.reverse()) process.kill(pid, 'SIGKILL');
    await exited;
    this.reaper.release(child);
  }

  async promote(): Promise<void> {
    this.promotedAt = performance.now();
    await this.query('standby', 'SELECT pg_promote()');
  }

  msSincePromotion(): number {
    return Math.round(performance.now() - this.promotedAt);
  }

  /** Runs a query as administrator. */
  async query<Row = Record<string, unknown>>(
    server: 'primary' | 'standby',
    sql: string,
    parameters: unknown[] = [],
  ): Promise<Row[]> {
    const client = new Client({ connectionString: this[server].adminUrl });
    await client.connect();
    try {
      return (await client.query(sql, parameters)).rows as Row[];
    } finally {
      await client.end();
    }
  }

  stop(): Promise<void> {
    return this.reaper.finish();
  }

  private replicas(): Promise<ReplicaState[]> {
    return this.query<ReplicaState>('primary', 'SELECT sync_state, pid FROM pg_stat_replication');
  }
}

async function optionsOf(
  folder: string,
  name: string,
  reaper: Awaited<ReturnType<typeof startReaper>>,
): Promise<Options> {
  const home = findHome(join(folder, name));
  for (const path of new Set([folder, home.directory])) reaper.removeAtEnd(path);
  return { home, reaper, disposable: false, onLog: () => undefined, port: await freePort() };
}

async function stop({ child }: Server, reaper: Options['reaper']): Promise<void> {
  const exited = once(child, 'exit');
  child.kill('SIGINT');
  await exited;
  reaper.release(child);
}

/** Copies the files of the primary, with its passwords. The copy follows the primary when it starts. */
function copyFiles({ home: from, port }: Options, { home: to }: Options): void {
  cpSync(from.directory, to.directory, { recursive: true, verbatimSymlinks: true });
  const data = readdirSync(to.directory).find((name) => /^postgresql-\d+$/.test(name))!;
  const folder = join(to.directory, data);
  const password = readFileSync(`${folder}.password`, 'utf8');
  writeFileSync(join(folder, 'standby.signal'), '');
  appendFileSync(
    join(folder, 'postgresql.auto.conf'),
    `primary_conninfo = 'host=127.0.0.1 port=${port} user=messaging password=${password}'\n`,
  );
  if (!to.user) return;
  for (const path of readdirSync(to.directory, { recursive: true, encoding: 'utf8' }))
    chownSync(join(to.directory, path), to.user.uid, to.user.gid);
}
