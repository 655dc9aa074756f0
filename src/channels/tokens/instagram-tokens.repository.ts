import { Injectable } from '@nestjs/common';
import { Database } from '../../database/database';
import { Transaction } from '../../database/transaction';
import { ConnectionKey } from '../adapters/channel-adapter';

/**
 * SQL condition: the token must be refreshed. Instagram refuses this for tokens younger than 24 hours.
 * Refreshing begins ten days before the expiry, which leaves ten daily tries. The expiry of a token that an
 * operator has entered is a guess, so it is refreshed as soon as possible.
 */
const DUE = `
  channel = 'INSTAGRAM' AND status = 'ACTIVE'
  AND (settings->>'accessTokenSince')::timestamptz <= now() - interval '24 hours'
  AND (credentials_expire_at <= now() + interval '10 days' OR (settings->>'isExpiryAssumed')::boolean)`;

@Injectable()
export class InstagramTokensRepository {
  constructor(private readonly database: Database) {}

  listDue(): Promise<ConnectionKey[]> {
    return this.database.query<ConnectionKey>(
      `SELECT tenant_id AS "tenantId", id FROM channel_connections WHERE ${DUE} ORDER BY credentials_expire_at`,
    );
  }

  /** Locks a connection whose token must be refreshed. Returns false if another process has locked it. */
  async lockDue(tx: Transaction, { tenantId, id }: ConnectionKey): Promise<boolean> {
    const rows = await tx.query(
      `SELECT FROM channel_connections WHERE tenant_id = $1 AND id = $2 AND ${DUE} FOR NO KEY UPDATE SKIP LOCKED`,
      [tenantId, id],
    );
    return rows.length > 0;
  }
}
