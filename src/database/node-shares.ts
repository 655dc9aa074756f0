import { WorkBudget } from '../common/work-budget';
import { DatabaseUnavailable } from './database-errors';

/** Part of a process's connections that work for the workspaces of one node may hold. */
const SHARE = 1 / 3;
/** Lines of work that waits for a connection of its node's share. */
const WAITING = { waiting: 10_000, waitingPerKey: 2_000, maxWaitMs: 2_000 };

/**
 * Limits the connections of a process that work for the workspaces of one node of Citus holds. While a node
 * hangs, its work waits or is refused, and leaves the other connections to the other nodes.
 */
export class NodeShares {
  private readonly budget: WorkBudget;

  /**
   * Makes the shares of a process.
   * @param connections number of the process's connections
   * @param nodeOf returns the name of the node that has a workspace; null when no node is known to have it
   */
  constructor(
    connections: number,
    private readonly nodeOf: (tenantId: string) => Promise<string | null>,
  ) {
    this.budget = new WorkBudget({ total: Infinity, perKey: Math.ceil(connections * SHARE), ...WAITING });
  }

  /**
   * Does work for a workspace that holds a connection.
   * @throws DatabaseUnavailable when the share of the workspace's node is used up
   */
  async run<T>(tenantId: string, work: () => Promise<T>): Promise<T> {
    const node = await this.nodeOf(tenantId);
    if (node === null) return work();
    const release = await this.budget.acquire(node);
    if (!release) throw new DatabaseUnavailable(new Error(`${node} does not answer in time`));
    try {
      return await work();
    } finally {
      release();
    }
  }
}
