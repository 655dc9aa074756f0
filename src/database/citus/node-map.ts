import { Logger } from '@nestjs/common';
import { Batcher } from '../../common/batcher';
import { Memo } from '../../common/memo';
import { Statements } from '../placement/placement';

/** Number of random ids that are tried, so high that the hash of at least one lies in any given range. */
const TRIES = 100_000;

/** Milliseconds for which the nodes and their shards are cached, unless a node does not answer. */
const KNOWN_FOR_MS = 10_000;

const MAX_HASHES = 100_000;
/** Largest number of workspaces whose hashes one statement reads. */
const MAX_HASHED = 1_000;

/** Range of hashes. Workspaces whose hashes lie in it are stored in the same shards. */
export interface Range {
  least: number;
  most: number;
  names: Record<string, string>;
}

export interface Node {
  name: string;
  host: string;
  port: number;
  ranges: Range[];
  /** Random id whose hash lies in a range of this node, so that Citus sends a call with it to the node. */
  workspaceId: string;
}

/** Reads and caches the list of the nodes of Citus, and the name of the node that stores a workspace. */
export class NodeMap {
  private readonly logger = new Logger(NodeMap.name);
  private nodes: Promise<Node[]> | null = null;
  private knownUntil = 0;
  private lastRead: Node[] = [];
  /** Hashes by which Citus assigns workspaces to shards. A workspace's hash never changes. */
  private readonly hashes = new Memo<number>(MAX_HASHES);
  private readonly hashReads = new Batcher<string, number>(MAX_HASHED, (ids) => this.readHashes(ids));

  constructor(private readonly statements: Statements) {}

  /** Returns the nodes that store workspaces, as they were at most 10 s ago. */
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

  /** Makes the next call read the nodes again, because shards may have moved to another node. */
  forget(): void {
    this.knownUntil = 0;
  }

  /** Returns the cached name of the node that stores a workspace; null until it is cached. */
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

  /** Returns the name of the node that stores a workspace, and reads it if necessary; null if none does. */
  async nodeOf(tenantId: string): Promise<string | null> {
    if (this.hashes.find(tenantId) === undefined || this.lastRead.length === 0)
      await Promise.all([this.hashOf(tenantId), this.list()]);
    return this.nameOf(tenantId);
  }

  async groupByNode(tenantIds: string[]): Promise<Map<Node, string[]>> {
    const [nodes, hashes] = await Promise.all([this.list(), this.hashesOf(tenantIds)]);
    const groups = nodes.map((node): [Node, string[]] => [
      node,
      tenantIds.filter((id) => hasHash(node, hashes.get(id)!)),
    ]);
    return new Map(groups.filter(([, ids]) => ids.length > 0));
  }

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
