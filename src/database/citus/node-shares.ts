import { WorkBudget } from '../../common/work-budget';
import { DatabaseUnavailable } from '../driver/database-errors';

const SHARE = 1 / 3;
/** Limits for callers that wait for a connection. A key is the name of a node or the id of a workspace. */
const WAITING = { total: Infinity, waiting: 10_000, waitingPerKey: 2_000, maxWaitMs: 2_000 };

/**
 * Limits how many of a process's connections one node of Citus may use: a third of them. One workspace may
 * use half of that third. So a node that hangs does not take the connections that other nodes need.
 */
export class NodeShares {
  private readonly ofNodes: WorkBudget;
  private readonly ofWorkspaces: WorkBudget;

  /**
   * @param connections number of the process's connections
   * @param nodeOf returns the name of the node that stores a workspace; null when none is known
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
   * Runs `work`, which uses a connection, within the limits of the workspace and of its node.
   * @throws DatabaseUnavailable when no connection is free within 2 s
   */
  async forWorkspace<T>(tenantId: string, work: () => Promise<T>): Promise<T> {
    const node = await this.nodeOf(tenantId);
    if (node === null) return work();
    return within(this.ofWorkspaces, tenantId, () => this.onNode(node, work));
  }

  /**
   * Runs `work`, which uses a connection for several workspaces of a node, within the limit of the node.
   * @throws DatabaseUnavailable when no connection is free within 2 s
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
