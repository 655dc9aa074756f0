import { Injectable } from '@nestjs/common';
import { Database, Reader } from '../../database/database';
import { Batch, listsOf, workspaceOf } from '../../database/key-list';
import { WebhookEndpoint } from './webhook-endpoint';

/** Success or failure of an attempt that began at `at`; ignored if `url` is not the endpoint's URL now. */
export type HealthChange = Pick<WebhookEndpoint, 'tenantId' | 'id' | 'url'> & { at: Date };

/** SQL that locks the changed endpoints in the order of their keys, so that two processes can't deadlock. */
const changesIn = (batch: Batch) => `(
  SELECT w.tenant_id, w.id, c.at
  FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::timestamptz[]) AS c (tenant_id, id, url, at)
  JOIN webhook_endpoints w ON w.tenant_id = ${workspaceOf('c', '$1', batch)} AND w.id = c.id AND w.url = c.url
  ORDER BY w.tenant_id, w.id FOR NO KEY UPDATE OF w) AS c`;

@Injectable()
export class EndpointHealthRepository {
  constructor(private readonly database: Database) {}

  /**
   * Records successes, one for each endpoint. A success clears a failure that is older than itself. Returns
   * the number of endpoints that do not fail now.
   */
  async markSucceeded(changes: HealthChange[], writer: Reader = this.database): Promise<number> {
    const rows = await writer.query(
      `UPDATE webhook_endpoints w SET failing_since = NULL, last_success_at = greatest(last_success_at, c.at)
       FROM ${changesIn(this.database)}
       WHERE w.tenant_id = ${workspaceOf('c', '$1', this.database)} AND w.id = c.id AND (failing_since IS NULL OR failing_since <= c.at)
       RETURNING w.id`,
      listsOf(changes, 'tenantId', 'id', 'url', 'at'),
    );
    return rows.length;
  }

  /**
   * Records failures, one for each endpoint. `failing_since` stays the first failure since the last success.
   * A failure before the last success is ignored.
   */
  async markFailing(changes: HealthChange[]): Promise<void> {
    await this.database.query(
      `UPDATE webhook_endpoints w SET failing_since = c.at
       FROM ${changesIn(this.database)}
       WHERE w.tenant_id = ${workspaceOf('c', '$1', this.database)} AND w.id = c.id AND failing_since IS NULL
         AND (last_success_at IS NULL OR last_success_at < c.at)`,
      listsOf(changes, 'tenantId', 'id', 'url', 'at'),
    );
  }
}
