export interface Statements {
  query<Row>(sql: string, parameters?: unknown[]): Promise<Row[]>;
  prepared<Row>(sql: string, parameters?: unknown[]): Promise<Row[]>;
  poll<Row>(sql: string, parameters?: unknown[]): Promise<Row[]>;
}

/** Describes how the rows of several servers are merged into the result of one read. */
export interface SearchOptions<Row> {
  /** Returns the values by which rows are sorted, the most significant first. */
  order: (row: Row) => (string | number | boolean | Date | null)[];
  limit?: number;
  /** Columns with times, which are converted to Dates. */
  times?: (keyof Row & string)[];
  /**
   * Number of leading parameters that are lists of equal length. The first list holds workspace ids, each
   * other list a value for each of these ids. A server receives only the elements for its own workspaces.
   */
  lists?: number;
}

export interface WorkspaceServer {
  readonly name: string;
  /**
   * Reads rows on this server, for a periodic poll.
   * @throws Error when the server does not answer
   */
  search<Row extends object>(sql: string, parameters: unknown[], options: SearchOptions<Row>): Promise<Row[]>;
}

export interface WorkspaceRows<Row> {
  rows: Row[];
  /** Ids of workspaces whose rows are missing, because their server does not answer. */
  unreachableIds: ReadonlySet<string>;
}

/** Returns a statement and its parameters in the form in which they are sent to the server. */
export type WriteStatement = (sql: string, parameters: unknown[]) => [sql: string, parameters: unknown[]];

/** Finds the server of each workspace and reads rows there: on the only server, or on the nodes of Citus. */
export interface Placement {
  /**
   * Whether work for several workspaces may use the same statement, transaction or connection. False where
   * the server of one workspace may hang while other servers answer.
   */
  readonly mixesWorkspaces: boolean;
  /** Number of servers that may hang at the same time while work on other servers goes on. */
  readonly toleratedHangs: number;
  readonly writeStatement: WriteStatement;

  /** Returns the statements that apply settings until the end of a transaction. */
  settingsOf(settings: Record<string, string | number>): string[];

  /**
   * Calls `work`, which uses a connection, as soon as the limits of the workspace and of its server allow it.
   * The first read of a request, and a worker's claims and records of outcomes go through this method, so
   * that no further work begins while the server hangs. `work` must call neither this method nor
   * `pipelinedRead`.
   * @throws DatabaseUnavailable when no connection becomes free in time; the error of `work`
   */
  forWorkspace<T>(tenantId: string, work: () => Promise<T>): Promise<T>;

  /**
   * Returns the name of the server that stores a workspace. Null if there is only one server. Also null while
   * the name is not cached: a call some moments later may return it.
   */
  serverOf(tenantId: string): string | null;

  listServers(): Promise<WorkspaceServer[]>;

  /**
   * Returns a function that calls `work` for each server and returns the results; no server holds up the
   * others. With several servers, it resolves after half a second at the latest, with all results since its
   * last call. Concurrent callers get the same results. It does not call `work` for a server where `work` is
   * still running. A server that has failed is left out, unless all have failed.
   */
  repeatOnServers<Result>(work: (server: WorkspaceServer) => Promise<Result>): () => Promise<Result[]>;

  /**
   * Searches all workspaces for work by a statement without parameters. It waits for a slow server at most
   * half a second; a later search with the same text returns that server's rows.
   */
  searchAll<Row extends object>(sql: string, options: SearchOptions<Row>): Promise<Row[]>;

  /** Reads rows of the workspaces of all servers. It leaves out servers that do not answer within 1 s. */
  readOnServers<Row extends object>(
    sql: string,
    parameters: unknown[],
    options: SearchOptions<Row>,
  ): Promise<Row[]>;

  /**
   * Reads rows of workspaces, whose ids are the first parameter, for a request. If there are several
   * workspaces, it leaves out those whose server does not answer within 1 s.
   */
  readWorkspaces<Row extends object>(
    sql: string,
    parameters: [tenantIds: string[], ...others: unknown[]],
    options: SearchOptions<Row>,
  ): Promise<WorkspaceRows<Row>>;

  /**
   * Reads PostgreSQL's own views on each server that answers, by a statement without parameters. Its rows
   * must contain no times, because Citus returns them as JSON. `server` is the number of the row's server.
   */
  readViews<Row extends object>(sql: string): Promise<(Row & { server: number })[]>;

  /** Compares the clocks of the nodes of Citus with the coordinator's; does nothing on one server. */
  measureClocks(): Promise<void>;

  /** Whether the clocks of several servers differ by at most 1 s; undefined if there is only one server. */
  readonly clocks: 'synchronized' | 'wrong' | undefined;
}
