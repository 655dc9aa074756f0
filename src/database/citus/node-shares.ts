import { WorkBudget } from '../../common/work-budget';
import { DatabaseUnavailable } from '../driver/database-errors';

/** Part of a process's connections that may be used for one node. */
const SHARE = 1 / 3;
/** Lines of work that waits for a connection. */
const WAITING = { total: Infinity, waiting: 10_000, waitingPerKey: 2_000, maxWaitMs: 2_000 };

/**
 * Limits how many of a process's connections are used for the workspaces of one node of Citus. While a node
 * hangs, its work waits or is refused, and leaves the other connections to the other nodes. A workspace has
 * half of its node's share at most.
 */
export class NodeShares {
  private readonly ofNodes: WorkBudget;
  private readonly ofWorkspaces: WorkBudget;

  /**
   * Makes the shares of a process.
   * @param connections number of the process's connections
   * @param nodeOf returns the name of the node that has a workspace; null when no node is known to have it
   */
  constructor(
    connections: number,
    private readonly nodeOf: (tenantId: string) => Promise<string | null>,
  ) {
    const share = Math.ceil(connections * SHARE);
    this.ofNodes = new WorkBudget({ perKey: share, ...WAITING });
    this.ofWorkspaces = new WorkBudget({ perKey: Math.ceil(share / 2), ...WAITING });
  }

  /**
   * Does work for a workspace that uses a connection.
   * @throws DatabaseUnavailable when no connection of the share is free in time
   */
  async forWorkspace<T>(tenantId: string, work: () => Promise<T>): Promise<T> {
    const node = await this.nodeOf(tenantId);
    if (node === null) return work();
    return within(this.ofWorkspaces, tenantId, () => this.onNode(node, work));
  }

  /**
   * Does work on a node for several of its workspaces, as `forWorkspace` does.
   * @throws DatabaseUnavailable when no connection of the share is free in time
   */
  onNode<T>(node: string, work: () => Promise<T>): Promise<T> {
    return within(this.ofNodes, node, work);
  }
}

async function within<T>(budget: WorkBudget, key: string, work: () => Promise<T>): Promise<T> {
  const release = await budget.acquire(key);
  if (!release) throw new DatabaseUnavailable(new Error(`All connections for ${key} are in use`));
  try {
    return await work();
  } finally {
    release();
  }
}
