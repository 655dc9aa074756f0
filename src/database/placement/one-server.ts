import { Placement, Statements, WorkspaceRows, WorkspaceServer } from './placement';

const NONE: ReadonlySet<string> = new Set();

/** Runs work for all workspaces on the one server that the service is connected to. */
export class OneServer implements Placement, WorkspaceServer {
  readonly name = 'the server';
  readonly mixesWorkspaces = true;
  readonly toleratedHangs = 0;
  readonly clocks = undefined;

  constructor(private readonly statements: Statements) {}

  writeStatement(this: void, sql: string, parameters: unknown[]): [string, unknown[]] {
    return [sql, parameters];
  }

  settingsOf(settings: Record<string, string | number>): string[] {
    return [
      `SELECT set_config(name, setting, true)
    FROM unnest('{${Object.keys(settings).join()}}'::text[], '{${Object.values(settings).join()}}'::text[])
      AS s (name, setting)`,
    ];
  }

  forWorkspace<T>(_: string, work: () => Promise<T>): Promise<T> {
    return work();
  }

  serverOf(): null {
    return null;
  }

  listServers(): Promise<WorkspaceServer[]> {
    return Promise.resolve([this]);
  }

  repeatOnServers<Result>(work: (server: WorkspaceServer) => Promise<Result>): () => Promise<Result[]> {
    let running: Promise<Result[]> | null = null;
    const run = async () => [await work(this)];
    return () => (running ??= run().finally(() => (running = null)));
  }

  search<Row>(sql: string, parameters: unknown[]): Promise<Row[]> {
    return this.statements.poll(sql, parameters);
  }

  searchAll<Row>(sql: string): Promise<Row[]> {
    return this.statements.poll(sql);
  }

  readOnServers<Row>(sql: string, parameters: unknown[]): Promise<Row[]> {
    return this.statements.poll(sql, parameters);
  }

  async readWorkspaces<Row>(sql: string, parameters: unknown[]): Promise<WorkspaceRows<Row>> {
    return { rows: await this.statements.prepared<Row>(sql, parameters), unreachableIds: NONE };
  }

  readViews<Row>(sql: string): Promise<(Row & { server: number })[]> {
    return this.statements.query(`SELECT 0 AS server, found.* FROM (${sql}) AS found`);
  }

  measureClocks(): Promise<void> {
    return Promise.resolve();
  }
}
