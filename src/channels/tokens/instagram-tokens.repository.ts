import { Injectable } from '@nestjs/common';
import { Database } from '../../database/database';
import { Transaction } from '../../database/transaction';
import { ConnectionKey } from '../adapters/channel-adapter';

/**
 * Connections whose token is due to be refreshed. Instagram refuses to refresh a token younger than 24 hours;
 * ten days before its expiry leave ten daily tries. A new token's expiry is an assumption, so the first
 * refresh comes at once.
 */
const DUE = `
  channel = 'INSTAGRAM' AND status = 'ACTIVE'
  AND (settings->>'accessTokenSince')::timestamptz <= now() - interval '24 hours'
  AND (credentials_expire_at <= now() + interval '10 days' OR (settings->>'isExpiryAssumed')::boolean)`;

@Injectable()
export class InstagramTokensRepository {
  constructor(private readonly database: Database) {}

  /** Lists the connections of all workspaces whose token is due, the first to expire first. */
  listDue(): Promise<ConnectionKey[]> {
    return this.database.query<ConnectionKey>(
      `SELECT tenant_id AS "tenantId", id FROM channel_connections WHERE ${DUE} ORDER BY credentials_expire_at`,
    );
  }

  /**
   * Locks a connection if its token is still due and no other process has locked it. Reports whether it has.
   */
  async lockDue(tx: Transaction, { tenantId, id }: ConnectionKey): Promise<boolean> {
    const rows = await tx.query(
      `SELECT FROM channel_connections WHERE tenant_id = $1 AND id = $2 AND ${DUE} FOR NO KEY UPDATE SKIP LOCKED`,
      [tenantId, id],
    );
    return rows.length > 0;
  }
}
