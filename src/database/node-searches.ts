import { Logger } from '@nestjs/common';
import { escapeLiteral } from 'pg';
import { prepareValue } from 'pg/lib/utils';

/** Time for which the places of the shards count as known, unless a node could not answer. */
const KNOWN_FOR_MS = 10_000;

/** Beginning of the answer of a node that was reached, and could not run the statement. */
const STATEMENT_FAILED = 'ERROR:';

/** Tells how the rows that the nodes have found become those of one search. */
export interface Merging<Row> {
  /** Returns the values by which the search orders its rows, in the order of their rank. */
  order: (row: Row) => (string | number | boolean | Date | null)[];
  /** Largest number of rows of the search. */
  limit?: number;
  /** Columns that hold times. */
  times?: (keyof Row & string)[];
}

interface Search {
  sql: string;
  parameters: unknown[];
  resolve: (rows: object[]) => void;
  reject: (error: unknown) => void;
}

/** A node, and the names that its shards have there: by table, for each range of workspaces. */
interface Node {
  host: string;
  port: number;
  ranges: Record<string, string>[];
}

/**
 * Searches all workspaces for work where they are on several nodes of Citus. Each node is asked for itself,
 * so that the work of the others is found while one is away: a SELECT over all shards would fail. The
 * searches of one turn of the event loop go to each node together, because each request has a connection of
 * its own.
 */
export class NodeSearches {
  private readonly logger = new Logger(NodeSearches.name);
  private waiting: Search[] = [];
  private nodes: Promise<Node[] | null> | null = null;
  private knownUntil = 0;
  /** Nodes that did not answer last time. */
  private readonly away = new Set<string>();
  /** Nodes that are being asked. */
  private readonly asked = new Set<string>();

  /**
   * Makes the searches of a process.
   * @param query runs a statement on the coordinator
   */
  constructor(private readonly query: <Row>(sql: string, parameters?: unknown[]) => Promise<Row[]>) {}

  /**
   * Runs a search on each node.
   * @returns null where the workspaces are on one server
   */
  async run<Row extends object>(
    sql: string,
    parameters: unknown[],
    merging: Merging<Row>,
  ): Promise<Row[] | null> {
    if (!(await this.findNodes())) return null;
    const found = await new Promise<object[]>((resolve, reject) => {
      if (this.waiting.length === 0) setImmediate(() => void this.askAll());
      this.waiting.push({ sql, parameters, resolve, reject });
    });
    return merged(found as Row[], merging);
  }

  /** Asks all nodes, and waits for those that have answered last time. */
  private async askAll(): Promise<void> {
    const searches = this.waiting;
    this.waiting = [];
    try {
      const nodes = (await this.findNodes())!;
      const present = nodes.filter((node) => !this.away.has(nameOf(node)));
      const answers = nodes.map((node) => this.ask(node, searches));
      const awaited = present.length > 0 ? answers.filter((_, n) => present.includes(nodes[n]!)) : answers;
      const found = (await Promise.all(awaited)).filter((lists) => lists !== null);
      if (found.length === 0) throw new Error('no node has answered');
      for (const [n, { resolve }] of searches.entries()) resolve(found.flatMap((lists) => lists[n]!));
    } catch (error) {
      for (const { reject } of searches) reject(error);
    }
  }

  /**
   * Returns what one node has found for each search; null while it does not answer. It asks a node that is
   * away one question at a time.
   */
  private async ask(node: Node, searches: Search[]): Promise<object[][] | null> {
    const name = nameOf(node);
    if (this.away.has(name) && this.asked.has(name)) return null;
    this.asked.add(name);
    try {
      const [answer] = await this.query<{ success: boolean; result: string }>(
        'SELECT success, result FROM master_run_on_worker($1::text[], $2::integer[], $3::text[], true)',
        [[node.host], [node.port], [requestTo(node, searches)]],
      );
      const { success, result } = answer!;
      const hasFailed = !success && result.startsWith(STATEMENT_FAILED);
      this.noteAnswer(name, success || hasFailed ? null : result);
      if (hasFailed) return await this.askApart(node, searches, result);
      return success ? (JSON.parse(result) as object[][]) : null;
    } catch (error) {
      this.noteAnswer(name, error);
      return null;
    } finally {
      this.asked.delete(name);
    }
  }

  /**
   * Asks a node for each search alone, because one of them has failed. A search that fails alone finds
   * nothing there until the next turn.
   */
  private async askApart(node: Node, searches: Search[], error: string): Promise<object[][]> {
    // Its shards may have moved to another node.
    this.knownUntil = 0;
    if (searches.length === 1) {
      this.logger.error({ node: nameOf(node), err: error }, 'a search has failed on a node');
      return [[]];
    }
    const lists = await Promise.all(searches.map((search) => this.ask(node, [search])));
    return lists.map((found) => found?.[0] ?? []);
  }

  /** Notes whether a node has answered, and reports a change. */
  private noteAnswer(node: string, error: unknown): void {
    // Its shards may have moved to another one.
    if (error !== null) this.knownUntil = 0;
    if (this.away.has(node) === (error !== null)) return;
    this.away[error === null ? 'delete' : 'add'](node);
    if (error === null) this.logger.log({ node }, 'a node answers again');
    else this.logger.error({ node, err: error }, 'a node finds no work: that of the others goes on');
  }

  /** Finds the nodes and their shards; null where there is one server. */
  private findNodes(): Promise<Node[] | null> {
    if (Date.now() < this.knownUntil) return this.nodes!;
    this.knownUntil = Date.now() + KNOWN_FOR_MS;
    this.nodes = this.readNodes();
    this.nodes.catch(() => (this.knownUntil = 0));
    return this.nodes;
  }

  private async readNodes(): Promise<Node[] | null> {
    const [citus] = await this.query<{ isThere: boolean }>(
      `SELECT to_regclass('pg_catalog.pg_dist_shard') IS NOT NULL AS "isThere"`,
    );
    if (!citus!.isThere) return null;
    const nodes = await this.query<Node>(
      `SELECT host, port, json_agg(names) AS ranges FROM (
         SELECT n.nodename AS host, n.nodeport AS port,
                json_object_agg(c.relname, shard_name(s.logicalrelid, s.shardid)) AS names
         FROM pg_dist_shard s JOIN pg_dist_placement p ON p.shardid = s.shardid
         JOIN pg_dist_node n ON n.groupid = p.groupid AND n.noderole = 'primary'
         JOIN pg_class c ON c.oid = s.logicalrelid AND NOT c.relispartition
         WHERE s.shardminvalue IS NOT NULL
         GROUP BY n.nodename, n.nodeport, s.shardminvalue) AS ranges
       GROUP BY host, port`,
    );
    return nodes.length > 0 ? nodes : null;
  }
}

function nameOf({ host, port }: Node): string {
  return `${host}:${port}`;
}

/** Returns the statement that answers searches on one node, as a list of lists of rows. */
function requestTo({ ranges }: Node, searches: Search[]): string {
  const lists = searches.map(({ sql, parameters }) => {
    const statement = withValues(sql, parameters);
    const parts = ranges.map((names) => inRange(statement, names));
    return `(SELECT coalesce(json_agg(found), '[]') FROM (${parts.join(' UNION ALL ')}) AS found)`;
  });
  return ['SELECT json_build_array(', lists.join(', '), ')'].join('');
}

/** Returns a statement that reads the shards of one range of workspaces in place of the tables. */
function inRange(statement: string, names: Record<string, string>): string {
  const tables = Object.entries(names)
    .filter(([table]) => new RegExp(`\\b${table}\\b`).test(statement))
    .map(([table, shard]) => `${table} AS NOT MATERIALIZED (SELECT * FROM ${shard})`);
  return `(WITH ${tables.join(', ')} SELECT * FROM (${statement}) AS step)`;
}

function withValues(sql: string, parameters: unknown[]): string {
  return sql.replace(/\$(\d+)/g, (_, n: string) => {
    const value = prepareValue(parameters[Number(n) - 1]) as string | null;
    return value === null ? 'NULL' : escapeLiteral(value);
  });
}

function merged<Row extends object>(
  rows: Row[],
  { order, limit = Infinity, times = [] }: Merging<Row>,
): Row[] {
  for (const row of rows)
    for (const column of times)
      if (row[column] !== null) row[column] = new Date(row[column] as string) as Row[typeof column];
  const ranked = rows.map((row) => ({ row, rank: order(row) }));
  ranked.sort((a, b) => compare(a.rank, b.rank));
  return ranked.slice(0, limit).map(({ row }) => row);
}

function compare(a: ReturnType<Merging<object>['order']>, b: typeof a): number {
  for (const [n, value] of a.entries()) {
    const other = b[n]!;
    if (value! < other) return -1;
    if (value! > other) return 1;
  }
  return 0;
}
