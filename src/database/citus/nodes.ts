import { Placement, SearchOptions, Statements, WorkspaceRows, WorkspaceServer } from '../placement/placement';
import { ON_EACH_SERVER } from './citus';
import { merged } from './merged-rows';
import { NodeClocks } from './node-clocks';
import { Node, NodeMap } from './node-map';
import { NodeSearches } from './node-searches';
import { NodeShares } from './node-shares';
import { NodeReads, NodeWork } from './node-work';
import { withPresentTime } from './present-time';

/** Runs work for workspaces on the nodes of Citus. A node may hang or be away while others answer. */
export class Nodes implements Placement {
  readonly mixesWorkspaces = false;
  readonly toleratedHangs = 2;
  readonly writeStatement = withPresentTime;
  private readonly map: NodeMap;
  private readonly searches: NodeSearches;
  private readonly shares: NodeShares;
  private readonly reads = new NodeReads();
  private readonly nodeClocks: NodeClocks;
  private readonly searchesOfAll = new Map<string, () => Promise<object[][]>>();

  constructor(
    private readonly statements: Statements,
    connections: number,
  ) {
    this.map = new NodeMap(statements);
    this.searches = new NodeSearches(statements, this.map);
    this.shares = new NodeShares(connections, (tenantId) => this.map.nodeOf(tenantId));
    this.nodeClocks = new NodeClocks(statements);
  }

  get clocks(): 'synchronized' | 'wrong' {
    return this.nodeClocks.state;
  }

  measureClocks(): Promise<void> {
    return this.nodeClocks.measure();
  }

  /**
   * Returns a SET LOCAL statement for each setting, because Citus does not send the effect of `set_config` to
   * the nodes. Leaves out `plan_cache_mode`, because a coordinator refuses many statements for which it must
   * make a generic plan (one without parameter values).
   */
  settingsOf({ plan_cache_mode: _, ...settings }: Record<string, string | number>): string[] {
    return Object.entries(settings).map(([name, value]) => `SET LOCAL ${name} = ${value}`);
  }

  forWorkspace<T>(tenantId: string, work: () => Promise<T>): Promise<T> {
    return this.shares.forWorkspace(tenantId, work);
  }

  serverOf(tenantId: string): string | null {
    return this.map.nameOf(tenantId);
  }

  async listServers(): Promise<WorkspaceServer[]> {
    const nodes = await this.map.list();
    return nodes.map((node) => ({
      name: node.name,
      search: (sql, parameters, options) => this.searchOn(node, sql, parameters, options),
    }));
  }

  repeatOnServers<Result>(work: (server: WorkspaceServer) => Promise<Result>): () => Promise<Result[]> {
    const repeated = new NodeWork(() => this.listServers(), work);
    return () => repeated.run();
  }

  async searchAll<Row extends object>(sql: string, options: SearchOptions<Row>): Promise<Row[]> {
    const search =
      this.searchesOfAll.get(sql) ?? this.repeatOnServers((server) => server.search(sql, [], options));
    this.searchesOfAll.set(sql, search);
    return merged((await search()).flat() as Row[], options);
  }

  async readOnServers<Row extends object>(
    sql: string,
    parameters: unknown[],
    options: SearchOptions<Row>,
  ): Promise<Row[]> {
    const nodes = await this.map.list();
    const found = await this.reads.read(nodes, (node) => this.searchOn(node, sql, parameters, options));
    return merged(
      found.flatMap(({ answer }) => answer),
      options,
    );
  }

  /** Reads one workspace from its node, or several from the nodes that answer within 1 s. */
  async readWorkspaces<Row extends object>(
    sql: string,
    [tenantIds, ...others]: [tenantIds: string[], ...others: unknown[]],
    options: SearchOptions<Row>,
  ): Promise<WorkspaceRows<Row>> {
    if (tenantIds.length === 1) {
      const read = () => this.statements.prepared<Row>(sql, [tenantIds, ...others]);
      return { rows: await this.forWorkspace(tenantIds[0]!, read), unreachableIds: new Set() };
    }
    const groups = await this.map.groupByNode(tenantIds);
    const found = await this.reads.read([...groups.keys()], (node) =>
      this.shares.onNode(node.name, () =>
        this.searchOn(node, sql, [groups.get(node)!, ...others], { ...options, lists: 1 }),
      ),
    );
    const reached = new Set(found.flatMap(({ node }) => groups.get(node)!));
    return {
      rows: merged(
        found.flatMap(({ answer }) => answer),
        options,
      ),
      unreachableIds: new Set(tenantIds.filter((id) => !reached.has(id))),
    };
  }

  async readViews<Row extends object>(sql: string): Promise<(Row & { server: number })[]> {
    const answers = await this.statements.query<{ server: number; rows: string }>(ON_EACH_SERVER, [sql]);
    return answers.flatMap(({ server, rows }) =>
      (JSON.parse(rows) as Row[]).map((row) => ({ ...row, server })),
    );
  }

  private async searchOn<Row extends object>(
    node: Node,
    sql: string,
    parameters: unknown[],
    { times = [], lists = 0, ...merging }: SearchOptions<Row>,
  ): Promise<Row[]> {
    const rows = (await this.searches.run(node, { sql, parameters, lists })) as Row[];
    for (const row of rows)
      for (const column of times)
        if (row[column] !== null) row[column] = new Date(row[column] as string) as Row[typeof column];
    return merged(rows, merging);
  }
}
