import { Logger } from '@nestjs/common';
import { DatabaseUnavailable, isStatementRefused } from '../driver/database-errors';
import { Statements } from '../placement/placement';
import { NODE_SEARCH } from './distributed-tables';
import { Node, NodeMap } from './node-map';
import { requestTo, Search, workspacesOf } from './node-request';

/** Thrown when a node does not answer a search, or refuses it. */
export class NodeFailed extends Error {}

interface Waiting extends Search {
  resolve: (rows: object[]) => void;
  reject: (error: unknown) => void;
}

/**
 * Searches the nodes of Citus for work, each by a statement of its own, because a SELECT over all shards
 * would fail while one node is away. All searches of one tick of the event loop are sent to a node together,
 * over a connection that the coordinator keeps open. `now()` in a search is the coordinator's time, because
 * the clocks of nodes may differ.
 */
export class NodeSearches {
  private readonly logger = new Logger(NodeSearches.name);
  private readonly waiting = new Map<string, Waiting[]>();
  /** Names of the nodes that did not answer their last search. */
  private readonly away = new Set<string>();
  /** Names of the nodes that have not answered a running search yet. */
  private readonly asked = new Set<string>();

  constructor(
    private readonly statements: Statements,
    private readonly map: NodeMap,
  ) {}

  /**
   * Runs a search on one node.
   * @throws NodeFailed when the node does not answer, or refuses the statement
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
   * Returns the rows that one node has found for each search. A node that did not answer its last search
   * receives only one request at a time.
   * @throws NodeFailed
   */
  private async ask(node: Node, searches: Waiting[]): Promise<object[][]> {
    const { name } = node;
    if (this.away.has(name) && this.asked.has(name)) throw new NodeFailed(`${name} is away`);
    this.asked.add(name);
    try {
      const answer = await this.askFor(
        node,
        requestTo(node, searches, await this.map.hashesOf(workspacesOf(searches))),
      );
      this.noteAnswer(name, null);
      return answer;
    } catch (error) {
      // The node is not noted as failed, because the statement did not even reach the coordinator.
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
    const [answer] = await this.statements.query<{ found: string }>(
      `SELECT ${NODE_SEARCH}($1::uuid, $2, now()) AS found`,
      [workspaceId, request],
    );
    return JSON.parse(answer!.found) as object[][];
  }

  /**
   * Sends each search to a node by itself, because all together have failed. Rejects each that fails alone.
   * @throws NodeFailed when there is only one search
   */
  private async askApart(node: Node, searches: Waiting[], error: unknown): Promise<object[][]> {
    // The map must be read anew, because the node's shards may have moved to another node.
    this.map.forget();
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

  private noteAnswer(node: string, error: unknown): void {
    // The map must be read anew, because the node's shards may have moved to another node.
    if (error !== null) this.map.forget();
    if (this.away.has(node) === (error !== null)) return;
    this.away[error === null ? 'delete' : 'add'](node);
    if (error === null) this.logger.log({ node }, 'a node answers again');
    else this.logger.error({ node, err: error }, 'a node finds no work: that of the others goes on');
  }
}
