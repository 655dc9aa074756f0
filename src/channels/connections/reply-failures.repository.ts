import { Injectable } from '@nestjs/common';
import { Transaction } from '../../database/transaction';
import { ConnectionKey } from '../adapters/channel-adapter';

/** Number of replies that fail in a row until the connection counts as failing. */
export const FAILING_FROM = 5;

/** Counts the replies over a connection that failed since the last one that arrived. */
@Injectable()
export class ReplyFailuresRepository {
  /**
   * Counts failed replies, up to FAILING_FROM. Begins anew if the first of too few was over an hour ago.
   * @returns the number; 0 if the connection is not active
   */
  async count(tx: Transaction, { tenantId, id }: ConnectionKey, failed: number): Promise<number> {
    const [row] = await tx.query<{ failedReplies: number }>(
      `WITH old AS (
         SELECT failed_replies > 0 AND (failed_replies >= ${FAILING_FROM} OR failed_since > now() - interval '1 hour') AS goes_on
         FROM channel_connections WHERE tenant_id = $1 AND id = $2 AND status = 'ACTIVE' FOR NO KEY UPDATE
       )
       UPDATE channel_connections w
       SET failed_replies = least(${FAILING_FROM}, CASE WHEN old.goes_on THEN failed_replies ELSE 0 END + $3::integer),
         failed_since = CASE WHEN old.goes_on THEN failed_since ELSE $4 END
       FROM old WHERE w.tenant_id = $1 AND w.id = $2 RETURNING w.failed_replies AS "failedReplies"`,
      [tenantId, id, failed, new Date()],
    );
    return row?.failedReplies ?? 0;
  }

  /** Forgets the failed replies. Returns false if there were none. */
  async clear(tx: Transaction, { tenantId, id }: ConnectionKey): Promise<boolean> {
    const rows = await tx.query(
      `UPDATE channel_connections SET failed_replies = 0, failed_since = NULL
       WHERE tenant_id = $1 AND id = $2 AND failed_replies > 0 RETURNING 1`,
      [tenantId, id],
    );
    return rows.length > 0;
  }
}
