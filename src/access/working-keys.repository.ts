import { isId } from '../common/ids';
import { Transaction } from '../database/transaction';

/**
 * Shares the lock of a key's row until the transaction ends: a revocation waits for it.
 * @returns false when the key was revoked or has expired
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
