import { Logger } from '@nestjs/common';
import { Batcher } from '../../common/batcher';
import { Memo } from '../../common/memo';
import { Statements } from '../placement/placement';

/** Number of ids of which one is surely in a range of workspaces. */
const TRIES = 100_000;

/** Time for which the nodes of the shards count as known, unless a node could not answer. */
const KNOWN_FOR_MS = 10_000;

/** Limit of the workspaces whose hashes a process keeps. */
const MAX_HASHES = 100_000;
/** Limit of the workspaces whose hashes one statement reads. */
const MAX_HASHED = 1_000;

/** Part of a node's workspaces: those whose hash is in a range. */
export interface Range {
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

/** Knows the nodes of Citus, and which of them has a workspace. */
export class NodeMap {
  private readonly logger = new Logger(NodeMap.name);
  private nodes: Promise<Node[]> | null = null;
  private knownUntil = 0;
  /** Nodes as they were last read. */
  private lastRead: Node[] = [];
  /** Hashes of workspaces, by which Citus divides them. A workspace keeps its hash when it is moved. */
  private readonly hashes = new Memo<number>(MAX_HASHES);
  private readonly hashReads = new Batcher<string, number>(MAX_HASHED, (ids) => this.readHashes(ids));

  constructor(private readonly statements: Statements) {}

  /** Returns the nodes that have workspaces. */
  list(): Promise<Node[]> {
    if (Date.now() < this.knownUntil) return this.nodes!;
    this.knownUntil = Date.now() + KNOWN_FOR_MS;
    this.nodes = this.readNodes();
    this.nodes.then(
      (nodes) => (this.lastRead = nodes),
      () => this.forget(),
    );
    return this.nodes;
  }

  /** Has the nodes read again before their next use: shards may have moved to another one. */
  forget(): void {
    this.knownUntil = 0;
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
    return this.lastRead.find((node) => hasHash(node, hash))?.name ?? null;
  }

  /** Returns the name of the node that has had a workspace lately; null when none is known to have it. */
  async nodeOf(tenantId: string): Promise<string | null> {
    if (this.hashes.find(tenantId) === undefined || this.lastRead.length === 0)
      await Promise.all([this.hashOf(tenantId), this.list()]);
    return this.nameOf(tenantId);
  }

  /** Returns the nodes that have some of the workspaces, each with those that it has. */
  async groupByNode(tenantIds: string[]): Promise<Map<Node, string[]>> {
    const [nodes, hashes] = await Promise.all([this.list(), this.hashesOf(tenantIds)]);
    const groups = nodes.map((node): [Node, string[]] => [
      node,
      tenantIds.filter((id) => hasHash(node, hashes.get(id)!)),
    ]);
    return new Map(groups.filter(([, ids]) => ids.length > 0));
  }

  /** Returns the hash of each workspace. */
  async hashesOf(tenantIds: Iterable<string>): Promise<Map<string, number>> {
    const ids = [...new Set(tenantIds)];
    return new Map(await Promise.all(ids.map(async (id) => [id, await this.hashOf(id)] as const)));
  }

  private async hashOf(tenantId: string): Promise<number> {
    const known = this.hashes.find(tenantId);
    if (known !== undefined) return known;
    const hash = await this.hashReads.submit(tenantId);
    this.hashes.set(tenantId, hash);
    return hash;
  }

  private async readHashes(tenantIds: string[]): Promise<number[]> {
    const rows = await this.statements.query<{ hash: number }>(
      'SELECT worker_hash(id) AS hash FROM unnest($1::uuid[]) WITH ORDINALITY AS w (id, n) ORDER BY n',
      [tenantIds],
    );
    return rows.map(({ hash }) => hash);
  }

  private async readNodes(): Promise<Node[]> {
    const nodes = await this.statements.query<Omit<Node, 'name'>>(
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

function hasHash({ ranges }: Node, hash: number): boolean {
  return ranges.some(({ least, most }) => least <= hash && hash <= most);
}
