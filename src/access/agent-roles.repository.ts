import { AgentRole } from './agent-role';
import { isId } from '../common/ids';
import { Database } from '../database/database';
import { Transaction } from '../database/transaction';

/**
 * Locks an agent's row in share mode.
 * @returns the agent's role; null if the agent is unknown, inactive or of another workspace
 */
export async function lockRole(tx: Transaction, tenantId: string, id: string): Promise<AgentRole | null> {
  if (!isId(id)) return null;
  const [agent] = await tx.query<{ role: AgentRole }>(
    'SELECT role FROM agents WHERE tenant_id = $1 AND id = $2 AND active FOR SHARE',
    [tenantId, id],
  );
  return agent?.role ?? null;
}

/**
 * Reads an agent's role without a lock.
 * @returns the agent's role; null if the agent is unknown, inactive or of another workspace
 */
export async function findRole(database: Database, tenantId: string, id: string): Promise<AgentRole | null> {
  if (!isId(tenantId) || !isId(id)) return null;
  const [agent] = await database.pipelinedRead<{ role: AgentRole }>(
    'SELECT role FROM agents WHERE tenant_id = $1 AND id = $2 AND active',
    [tenantId, id],
  );
  return agent?.role ?? null;
}
