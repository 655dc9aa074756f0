import { Logger } from '@nestjs/common';
import { escapeLiteral } from 'pg';
import { prepareValue } from 'pg/lib/utils';
import { Batcher } from '../../common/batcher';
import { Memo } from '../../common/memo';
import { DatabaseUnavailable, isStatementRefused } from '../driver/database-errors';
import { NODE_SEARCH } from './distributed-tables';
import { replaceValues } from './present-time';

/** Number of ids of which one is surely in a range of workspaces. */
const TRIES = 100_000;

/** Time for which the places of the shards count as known, unless a node could not answer. */
const KNOWN_FOR_MS = 10_000;

/** Limit of the workspaces whose hashes a process keeps. */
const MAX_HASHES = 100_000;
/** Limit of the workspaces whose hashes one statement reads. */
const MAX_HASHED = 1_000;

/** A search that a node did not answer. The log has the reason already. */
export class NodeFailed extends Error {}

interface Search {
  sql: string;
  parameters: unknown[];
  /**
   * Number of the first parameters that are lists with an element for each workspace, or for each part of
   * one. The first list has the ids of the workspaces.
   */
  lists: number;
}

interface Waiting extends Search {
  resolve: (rows: object[]) => void;
  reject: (error: unknown) => void;
}

/** Part of a node's workspaces: those whose hash is in a range. */
interface Range {
  least: number;
  most: number;
  /** Names of the shards, by table. */
  names: Record<string, string>;
}

/** A node, with the ranges of workspaces that it has. */
export interface Node {
  name: string;
  host: string;
  port: number;
  ranges: Range[];
  /** Id that a workspace of this node might have: by it Citus sends a search there. */
  workspaceId: string;
}

/**
 * Asks the nodes of Citus for work, each for itself: a SELECT over all shards would fail while one is away.
 * The searches of one tick of the event loop go to a node together, over a connection that the coordinator
 * keeps. What a search calls the present is that of the coordinator: the nodes' own clocks may differ.
 */
export class NodeSearches {
  private readonly logger = new Logger(NodeSearches.name);
  private readonly waiting = new Map<string, Waiting[]>();
  private nodes: Promise<Node[]> | null = null;
  private knownUntil = 0;
  /** Nodes as they were last read. */
  private lastRead: Node[] = [];
  /** Hashes of workspaces, by which Citus divides them. A workspace keeps its hash when it is moved. */
  private readonly hashes = new Memo<number>(MAX_HASHES);
  private readonly hashReads = new Batcher<string, number>(MAX_HASHED, (ids) => this.readHashes(ids));
  /** Nodes that did not answer last time. */
  private readonly away = new Set<string>();
  /** Nodes that are being asked. */
  private readonly asked = new Set<string>();

  /**
   * Makes the searches of a process.
   * @param query runs a statement on the coordinator
   */
  constructor(private readonly query: <Row>(sql: string, parameters?: unknown[]) => Promise<Row[]>) {}

  /** Returns the nodes that have workspaces. */
  list(): Promise<Node[]> {
    if (Date.now() < this.knownUntil) return this.nodes!;
    this.knownUntil = Date.now() + KNOWN_FOR_MS;
    this.nodes = this.readNodes();
    this.nodes.then(
      (nodes) => (this.lastRead = nodes),
      () => (this.knownUntil = 0),
    );
    return this.nodes;
  }

  /**
   * Returns the name of the node that has had a workspace lately. It is null while that is not known: then a
   * later call may know it.
   */
  nameOf(tenantId: string): string | null {
    void this.list();
    const hash = this.hashes.find(tenantId);
    if (hash === undefined) {
      this.hashOf(tenantId).catch((error: unknown) =>
        this.logger.debug({ err: error, tenantId }, 'the node of a workspace is not known'),
      );
      return null;
    }
    const has = ({ ranges }: Node) => ranges.some(({ least, most }) => least <= hash && hash <= most);
    return this.lastRead.find(has)?.name ?? null;
  }

  /** Returns the name of the node that has had a workspace lately; null when none is known to have it. */
  async nodeOf(tenantId: string): Promise<string | null> {
    if (this.hashes.find(tenantId) === undefined || this.lastRead.length === 0)
      await Promise.all([this.hashOf(tenantId), this.list()]);
    return this.nameOf(tenantId);
  }

  /**
   * Runs a search on one node.
   * @throws NodeFailed when the node does not answer, or can't run the statement
   */
  run(node: Node, search: Search): Promise<object[]> {
    return new Promise((resolve, reject) => {
      const waiting = this.waiting.get(node.name);
      if (waiting) return void waiting.push({ ...search, resolve, reject });
      this.waiting.set(node.name, [{ ...search, resolve, reject }]);
      setImmediate(() => void this.askWaiting(node));
    });
  }

  private async askWaiting(node: Node): Promise<void> {
    const searches = this.waiting.get(node.name)!;
    this.waiting.delete(node.name);
    try {
      const lists = await this.ask(node, searches);
      for (const [n, { resolve }] of searches.entries()) resolve(lists[n]!);
    } catch (error) {
      for (const { reject } of searches) reject(error);
    }
  }

  /**
   * Returns what one node has found for each search. It asks a node that is away one question at a time.
   * @throws NodeFailed
   */
  private async ask(node: Node, searches: Waiting[]): Promise<object[][]> {
    const { name } = node;
    if (this.away.has(name) && this.asked.has(name)) throw new NodeFailed(`${name} is away`);
    this.asked.add(name);
    try {
      const answer = await this.askFor(node, requestTo(node, searches, await this.hashesOf(searches)));
      this.noteAnswer(name, null);
      return answer;
    } catch (error) {
      // No statement has reached the coordinator, so nothing is known of the node.
      if (error instanceof DatabaseUnavailable) throw new NodeFailed(`${name} was not asked`);
      const isRefused = isStatementRefused(error);
      this.noteAnswer(name, isRefused ? null : error);
      if (isRefused) return await this.askApart(node, searches, error);
    } finally {
      this.asked.delete(name);
    }
    throw new NodeFailed(`${name} does not answer`);
  }

  private async askFor({ workspaceId }: Node, request: string): Promise<object[][]> {
    const [answer] = await this.query<{ found: string }>(
      `SELECT ${NODE_SEARCH}($1::uuid, $2, now()) AS found`,
      [workspaceId, request],
    );
    return JSON.parse(answer!.found) as object[][];
  }

  /**
   * Asks a node for each search alone, because one of them has failed. One that fails alone is rejected.
   * @throws NodeFailed when there is one search
   */
  private async askApart(node: Node, searches: Waiting[], error: unknown): Promise<object[][]> {
    // Its shards may have moved to another node.
    this.knownUntil = 0;
    if (searches.length === 1) {
      this.logger.error({ node: node.name, err: error }, 'a search has failed on a node');
      throw new NodeFailed(`${node.name} refuses a search`);
    }
    const answers = await Promise.allSettled(searches.map((search) => this.ask(node, [search])));
    return answers.map((answer, n) => {
      if (answer.status === 'fulfilled') return answer.value[0]!;
      searches[n]!.reject(answer.reason);
      return [];
    });
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

  /** Returns the hash of each workspace in the lists of searches. */
  private async hashesOf(searches: Search[]): Promise<Map<string, number>> {
    const ids = new Set(
      searches.flatMap(({ lists, parameters }) => (lists > 0 ? (parameters[0] as string[]) : [])),
    );
    return new Map(await Promise.all([...ids].map(async (id) => [id, await this.hashOf(id)] as const)));
  }

  private async hashOf(tenantId: string): Promise<number> {
    const known = this.hashes.find(tenantId);
    if (known !== undefined) return known;
    const hash = await this.hashReads.submit(tenantId);
    this.hashes.set(tenantId, hash);
    return hash;
  }

  private async readHashes(tenantIds: string[]): Promise<number[]> {
    const rows = await this.query<{ hash: number }>(
      'SELECT worker_hash(id) AS hash FROM unnest($1::uuid[]) WITH ORDINALITY AS w (id, n) ORDER BY n',
      [tenantIds],
    );
    return rows.map(({ hash }) => hash);
  }

  private async readNodes(): Promise<Node[]> {
    const nodes = await this.query<Omit<Node, 'name'>>(
      `SELECT host, port, json_agg(json_build_object('least', least, 'most', most, 'names', names)) AS ranges,
         (SELECT id FROM (SELECT gen_random_uuid() AS id, generate_series(1, ${TRIES})) AS tried
          WHERE worker_hash(id) BETWEEN min(least) AND min(most) LIMIT 1) AS "workspaceId"
       FROM (
         SELECT n.nodename AS host, n.nodeport AS port, s.shardminvalue::integer AS least, s.shardmaxvalue::integer AS most,
                json_object_agg(c.relname, shard_name(s.logicalrelid, s.shardid)) AS names
         FROM pg_dist_shard s JOIN pg_dist_placement p ON p.shardid = s.shardid
         JOIN pg_dist_node n ON n.groupid = p.groupid AND n.noderole = 'primary'
         JOIN pg_class c ON c.oid = s.logicalrelid AND NOT c.relispartition
         WHERE s.shardminvalue IS NOT NULL
         GROUP BY n.nodename, n.nodeport, s.shardminvalue, s.shardmaxvalue) AS ranges
       GROUP BY host, port`,
    );
    return nodes.map((node) => ({ ...node, name: `${node.host}:${node.port}` }));
  }
}

/** Returns the statement that answers searches on one node, as a list of lists of rows. */
function requestTo({ ranges }: Node, searches: Search[], hashes: Map<string, number>): string {
  const lists = searches.map((search) => {
    const parts = ranges.flatMap((range) => {
      const parameters = inRange(search, range, hashes);
      return parameters ? [ofShards(withValues(search.sql, parameters), range)] : [];
    });
    if (parts.length === 0) return `'[]'::json`;
    return `(SELECT coalesce(json_agg(found), '[]') FROM (${parts.join(' UNION ALL ')}) AS found)`;
  });
  return ['SELECT json_build_array(', lists.join(', '), ')'].join('');
}

/** Returns the parameters of a search for the workspaces of a range; null if its lists have none of them. */
function inRange(
  { parameters, lists }: Search,
  { least, most }: Range,
  hashes: Map<string, number>,
): unknown[] | null {
  if (lists === 0) return parameters;
  const isThere = (parameters[0] as string[]).map((id) => {
    const hash = hashes.get(id)!;
    return least <= hash && hash <= most;
  });
  if (!isThere.includes(true)) return null;
  return parameters.map((value, n) =>
    n < lists ? (value as unknown[]).filter((_, row) => isThere[row]) : value,
  );
}

/** Returns a statement that reads the shards of one range of workspaces in place of the tables. */
function ofShards(statement: string, { names }: Range): string {
  const tables = Object.entries(names)
    .filter(([table]) => new RegExp(`\\b${table}\\b`).test(statement))
    .map(([table, shard]) => `${table} AS NOT MATERIALIZED (SELECT * FROM ${shard})`);
  return `(WITH ${tables.join(', ')} SELECT * FROM (${statement}) AS step)`;
}

/** Returns a statement with its values in it, but for the present time: this is a parameter of the search. */
function withValues(sql: string, parameters: unknown[]): string {
  const valueOf = (number: number) => {
    const value = prepareValue(parameters[number - 1]) as string | null;
    return value === null ? 'NULL' : escapeLiteral(value);
  };
  return replaceValues(sql, valueOf, '$1');
}
