import { isId } from '../common/ids';
import { Database } from '../database/database';
import { Transaction } from '../database/transaction';
import { AgentRole } from './permissions';

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

/** Returns an agent's role; null if the agent is unknown, inactive or of another workspace. Locks nothing. */
export async function findRole(database: Database, tenantId: string, id: string): Promise<AgentRole | null> {
  if (!isId(tenantId) || !isId(id)) return null;
  const [agent] = await database.pipelinedRead<{ role: AgentRole }>(
    'SELECT role FROM agents WHERE tenant_id = $1 AND id = $2 AND active',
    [tenantId, id],
  );
  return agent?.role ?? null;
}

/**
 * Locks a key's row in share mode, so that a revocation of the key waits for the end of the transaction.
 * @returns false if the key was revoked or has expired
 */
export async function lockWorkingKey(tx: Transaction, tenantId: string, id: string): Promise<boolean> {
  if (!isId(id)) return false;
  const rows = await tx.query(
    `SELECT FROM api_keys WHERE tenant_id = $1 AND id = $2 AND revoked_at IS NULL
       AND (expires_at IS NULL OR expires_at > now()) FOR KEY SHARE`,
    [tenantId, id],
  );
  return rows.length > 0;
}
