import { Injectable } from '@nestjs/common';
import { IsNull } from 'typeorm';
import { isId } from '../../common/ids';
import { SealedSecret } from '../../common/secret-box';
import { Database } from '../../database/database';
import { Transaction } from '../../database/transaction';
import { WebhookEndpointEntity } from './webhook-endpoint.entity';

export type Subscriber = Pick<
  WebhookEndpointEntity,
  'id' | 'tenantId' | 'events' | 'url' | 'rateLimit' | 'failingSince' | 'lastSuccessAt'
> & {
  secret: SealedSecret;
  /** The transaction holds its row lock: it can't be deactivated or deleted before the commit. */
  isLocked: boolean;
};

export type EndpointChanges = Partial<
  Pick<WebhookEndpointEntity, 'active' | 'rateLimit' | 'failingSince' | 'updatedAt' | 'deletedAt'>
>;

@Injectable()
export class WebhookEndpointsRepository {
  constructor(private readonly database: Database) {}

  async list(tenantId: string): Promise<WebhookEndpointEntity[]> {
    if (!isId(tenantId)) return [];
    return this.database.manager.find(WebhookEndpointEntity, {
      where: { tenantId, deletedAt: IsNull() },
      order: { id: 'DESC' },
    });
  }

  async find(tenantId: string, id: string): Promise<WebhookEndpointEntity | null> {
    if (!isId(id)) return null;
    return this.database.manager.findOneBy(WebhookEndpointEntity, { tenantId, id, deletedAt: IsNull() });
  }

  async lock(tx: Transaction, tenantId: string, id: string): Promise<WebhookEndpointEntity | null> {
    if (!isId(id)) return null;
    return tx.manager.findOne(WebhookEndpointEntity, {
      where: { tenantId, id, deletedAt: IsNull() },
      lock: { mode: 'for_no_key_update' },
    });
  }

  count(tx: Transaction, tenantId: string): Promise<number> {
    return tx.manager.countBy(WebhookEndpointEntity, { tenantId, deletedAt: IsNull() });
  }

  async insert(tx: Transaction, endpoint: WebhookEndpointEntity): Promise<void> {
    await tx.manager.insert(WebhookEndpointEntity, endpoint);
  }

  async update(tx: Transaction, tenantId: string, id: string, changes: EndpointChanges): Promise<void> {
    await tx.manager.update(WebhookEndpointEntity, { tenantId, id }, changes);
  }

  /**
   * Cancels an endpoint's pending deliveries. There may be many, so the statement timeout is longer. It locks rows in
   * the order of ids, as the workers do when they record outcomes, so they can't deadlock.
   */
  async cancelPendingDeliveries(tx: Transaction, tenantId: string, endpointId: string): Promise<void> {
    await tx.allowLongStatements();
    await tx.query(
      `WITH pending AS (
         SELECT id FROM webhook_deliveries WHERE tenant_id = $1 AND endpoint_id = $2 AND status = 'PENDING'
         ORDER BY id FOR NO KEY UPDATE
       )
       UPDATE webhook_deliveries d
       SET status = 'CANCELLED', finished_at = now(), lease_id = NULL, lease_until = NULL
       FROM pending WHERE d.tenant_id = $1 AND d.id = pending.id`,
      [tenantId, endpointId],
    );
  }

  async secretOf(tx: Transaction, tenantId: string, id: string): Promise<SealedSecret> {
    const endpoint = await tx.manager.findOneOrFail(WebhookEndpointEntity, {
      where: { tenantId, id },
      select: { id: true, secretKeyId: true, secretCiphertext: true },
    });
    return { keyId: endpoint.secretKeyId, ciphertext: endpoint.secretCiphertext };
  }

  /** @param at when the successful attempt began */
  async markSucceeded(tenantId: string, id: string, at: Date): Promise<void> {
    await this.database.query(
      `UPDATE webhook_endpoints SET failing_since = NULL, last_success_at = greatest(last_success_at, $3)
       WHERE tenant_id = $1 AND id = $2 AND (failing_since IS NULL OR failing_since <= $3)`,
      [tenantId, id, at],
    );
  }

  /**
   * Records the first failure since the last success. A later success wins.
   * @param at when the failed attempt began
   */
  async markFailing(tenantId: string, id: string, at: Date): Promise<void> {
    await this.database.query(
      `UPDATE webhook_endpoints SET failing_since = $3
       WHERE tenant_id = $1 AND id = $2 AND failing_since IS NULL
         AND (last_success_at IS NULL OR last_success_at < $3)`,
      [tenantId, id, at],
    );
  }

  async subscribers(tx: Transaction, tenantIds: string[]): Promise<Subscriber[]> {
    const rows = await tx.prepared<Omit<Subscriber, 'secret'> & SealedSecret>(
      `WITH locked AS (
         SELECT id FROM webhook_endpoints WHERE active AND tenant_id = ANY ($1) FOR SHARE SKIP LOCKED
       )
       SELECT id, tenant_id AS "tenantId", events, url, rate_limit AS "rateLimit", failing_since AS "failingSince",
              last_success_at AS "lastSuccessAt", secret_key_id AS "keyId", secret_ciphertext AS ciphertext,
              id IN (SELECT id FROM locked) AS "isLocked"
       FROM webhook_endpoints WHERE active AND tenant_id = ANY ($1)`,
      [tenantIds],
    );
    return rows.map(({ keyId, ciphertext, ...endpoint }) => ({ ...endpoint, secret: { keyId, ciphertext } }));
  }
}
