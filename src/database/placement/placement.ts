/** Runs single statements outside a transaction. */
export interface Statements {
  query<Row>(sql: string, parameters?: unknown[]): Promise<Row[]>;
  prepared<Row>(sql: string, parameters?: unknown[]): Promise<Row[]>;
  poll<Row>(sql: string, parameters?: unknown[]): Promise<Row[]>;
}

/** Tells how the rows that several servers have found become the rows of one search. */
export interface SearchOptions<Row> {
  /** Returns the values by which the search orders its rows, in the order of their rank. */
  order: (row: Row) => (string | number | boolean | Date | null)[];
  /** Largest number of rows of the search. */
  limit?: number;
  /** Columns that hold times. */
  times?: (keyof Row & string)[];
  /**
   * Number of the first parameters that are lists with an element for each workspace, or for each part of
   * one; the first has the ids of the workspaces. Each server gets the elements of its own.
   */
  lists?: number;
}

/** A server that has rows of workspaces. */
export interface WorkspaceServer {
  readonly name: string;
  /**
   * Searches the workspaces of the server for work, as `Database.poll` reads.
   * @throws Error when the server does not answer
   */
  search<Row extends object>(sql: string, parameters: unknown[], options: SearchOptions<Row>): Promise<Row[]>;
}

/** Rows of several workspaces. */
export interface WorkspaceRows<Row> {
  rows: Row[];
  /** Workspaces whose rows are missing, because their server does not answer. */
  unreachableIds: ReadonlySet<string>;
}

/** Returns a statement and its parameters in the form in which they are sent. */
export type WriteStatement = (sql: string, parameters: unknown[]) => [sql: string, parameters: unknown[]];

/** Tells where workspaces are, and reads their rows there: on one server, or on the nodes of Citus. */
export interface Placement {
  /**
   * Whether work for several workspaces may share a statement, a transaction or a connection. It may not
   * where the server of one may hang while the others answer.
   */
  readonly mixesWorkspaces: boolean;
  /** Number of servers that may hang at the same time while work on others goes on. */
  readonly toleratedHangs: number;
  readonly writeStatement: WriteStatement;

  /** Returns the statements that set parameters until the end of a transaction. */
  settingsOf(settings: Record<string, string | number>): string[];

  /**
   * Does work for a workspace that uses a connection, within the share of connections that the workspace and
   * its server have. The first read of a request is such work, and so are a worker's claims and records:
   * while the server hangs, the work that would follow them does not begin. `work` must not call this itself,
   * and so no `pipelinedRead`.
   * @throws DatabaseUnavailable when no connection of the share is free in time; the error of `work`
   */
  forWorkspace<T>(tenantId: string, work: () => Promise<T>): Promise<T>;

  /**
   * Returns the name of the server that has a workspace. It is null where there is one server, and while it
   * is not known: then a later call may know it.
   */
  serverOf(tenantId: string): string | null;

  /** Lists the servers that a search of all workspaces looks through. */
  listServers(): Promise<WorkspaceServer[]>;

  /**
   * Returns a function that does work on each server, none of which holds up the others. Where there are
   * several, it resolves after half a second at the latest, with the results that have come since its last
   * call. Calls at the same time are one, and work that still runs on a server does not begin again there. A
   * server that has failed is missed out, unless all have.
   */
  repeatOnServers<Result>(work: (server: WorkspaceServer) => Promise<Result>): () => Promise<Result[]>;

  /**
   * Searches all workspaces for work by a statement without parameters, as `repeatOnServers` does: the rows
   * of a server that does not answer soon come with a later search of the same text.
   */
  searchAll<Row extends object>(sql: string, options: SearchOptions<Row>): Promise<Row[]>;

  /**
   * Reads rows of the workspaces of all servers as a search does. The rows of a server that does not answer
   * within a second are left out.
   */
  readOnServers<Row extends object>(
    sql: string,
    parameters: unknown[],
    options: SearchOptions<Row>,
  ): Promise<Row[]>;

  /**
   * Reads rows of workspaces for a request; their ids are the first parameter. Of several workspaces, those
   * are left out whose server does not answer within a second.
   */
  readWorkspaces<Row extends object>(
    sql: string,
    parameters: [tenantIds: string[], ...others: unknown[]],
    options: SearchOptions<Row>,
  ): Promise<WorkspaceRows<Row>>;

  /**
   * Runs a read of PostgreSQL's own views on each server that has tables of the service, without parameters
   * and times. Servers that do not answer are left out. `server` is the number of the server of a row.
   */
  readViews<Row extends object>(sql: string): Promise<(Row & { server: number })[]>;

  /** Compares the clocks of several servers with the clock of the server that the service is connected to. */
  measureClocks(): Promise<void>;

  /** Whether the clocks of several servers agree to a second; undefined for one server. */
  readonly clocks: 'synchronized' | 'wrong' | undefined;
}
