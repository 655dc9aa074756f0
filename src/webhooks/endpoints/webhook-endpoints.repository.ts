import { Injectable } from '@nestjs/common';
import { IsNull } from 'typeorm';
import { isId } from '../../common/ids';
import { SealedSecret } from '../../common/secret-box';
import { Database } from '../../database/database';
import { Transaction } from '../../database/transaction';
import { WebhookEndpointEntity } from './webhook-endpoint.entity';

export type Subscriber = Pick<
  WebhookEndpointEntity,
  | 'id'
  | 'tenantId'
  | 'events'
  | 'url'
  | 'activation'
  | 'activatedAt'
  | 'rateLimit'
  | 'failingSince'
  | 'lastSuccessAt'
> & {
  secret: SealedSecret;
  /** The transaction holds its row lock: it can't be deactivated or deleted before the commit. */
  isLocked: boolean;
};

/** @property at when the attempt began */
export interface HealthChange {
  tenantId: string;
  id: string;
  at: Date;
}

/** Locks in the order of keys, so that two processes can't deadlock. */
const CHANGES = `(
  SELECT w.tenant_id, w.id, c.at FROM unnest($1::uuid[], $2::uuid[], $3::timestamptz[]) AS c (tenant_id, id, at)
  JOIN webhook_endpoints w ON w.tenant_id = c.tenant_id AND w.id = c.id
  ORDER BY w.tenant_id, w.id FOR NO KEY UPDATE OF w) AS c`;

const DATABASE_TIME = () => 'clock_timestamp()';

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
      // Waits for the claims of the moment, which hold a shared lock.
      lock: { mode: 'pessimistic_write' },
    });
  }

  count(tx: Transaction, tenantId: string): Promise<number> {
    return tx.manager.countBy(WebhookEndpointEntity, { tenantId, deletedAt: IsNull() });
  }

  async insert(tx: Transaction, endpoint: WebhookEndpointEntity): Promise<void> {
    await tx.manager.insert(WebhookEndpointEntity, { ...endpoint, activatedAt: DATABASE_TIME });
  }

  async activate(tx: Transaction, tenantId: string, id: string): Promise<void> {
    await tx.manager.update(
      WebhookEndpointEntity,
      { tenantId, id },
      {
        active: true,
        activation: () => 'activation + 1',
        activatedAt: DATABASE_TIME,
        failingSince: null,
        updatedAt: new Date(),
      },
    );
  }

  async deactivate(tx: Transaction, tenantId: string, id: string, isDeleted: boolean): Promise<void> {
    const now = new Date();
    const deletedAt = isDeleted ? now : null;
    await tx.manager.update(
      WebhookEndpointEntity,
      { tenantId, id },
      { active: false, updatedAt: now, deletedAt },
    );
  }

  reload(tx: Transaction, tenantId: string, id: string): Promise<WebhookEndpointEntity> {
    return tx.manager.findOneByOrFail(WebhookEndpointEntity, { tenantId, id });
  }

  async secretOf(tx: Transaction, tenantId: string, id: string): Promise<SealedSecret> {
    const endpoint = await tx.manager.findOneOrFail(WebhookEndpointEntity, {
      where: { tenantId, id },
      select: { id: true, secretKeyId: true, secretCiphertext: true },
    });
    return { keyId: endpoint.secretKeyId, ciphertext: endpoint.secretCiphertext };
  }

  /** Records successes, one for each endpoint. An older failure ends. */
  async markSucceeded(changes: HealthChange[]): Promise<void> {
    await this.database.query(
      `UPDATE webhook_endpoints w SET failing_since = NULL, last_success_at = greatest(last_success_at, c.at)
       FROM ${CHANGES} WHERE w.tenant_id = c.tenant_id AND w.id = c.id AND (failing_since IS NULL OR failing_since <= c.at)`,
      changeColumns(changes),
    );
  }

  /** Records the first failure since the last success, one for each endpoint. A later success wins. */
  async markFailing(changes: HealthChange[]): Promise<void> {
    await this.database.query(
      `UPDATE webhook_endpoints w SET failing_since = c.at
       FROM ${CHANGES} WHERE w.tenant_id = c.tenant_id AND w.id = c.id AND failing_since IS NULL
         AND (last_success_at IS NULL OR last_success_at < c.at)`,
      changeColumns(changes),
    );
  }

  /** The active endpoints of some workspaces. Those that nobody changes now are locked. */
  lockSubscribersOf(tx: Transaction, tenantIds: string[]): Promise<Subscriber[]> {
    return this.lockActive(tx, 'tenant_id = ANY ($1)', [tenantIds]);
  }

  /** The same of some endpoints. */
  lockSubscribers(tx: Transaction, endpoints: { tenantId: string; id: string }[]): Promise<Subscriber[]> {
    return this.lockActive(tx, 'tenant_id = ANY ($1) AND id = ANY ($2)', [
      [...new Set(endpoints.map(({ tenantId }) => tenantId))],
      endpoints.map(({ id }) => id),
    ]);
  }

  /** No claim waits for an endpoint that is being changed. */
  private async lockActive(tx: Transaction, condition: string, parameters: unknown[]): Promise<Subscriber[]> {
    const rows = await tx.prepared<Omit<Subscriber, 'secret'> & SealedSecret>(
      `WITH locked AS (
         SELECT id FROM webhook_endpoints WHERE active AND ${condition} FOR KEY SHARE SKIP LOCKED
       )
       SELECT id, tenant_id AS "tenantId", events, url, activation, activated_at AS "activatedAt",
              rate_limit AS "rateLimit", failing_since AS "failingSince", last_success_at AS "lastSuccessAt",
              secret_key_id AS "keyId", secret_ciphertext AS ciphertext, id IN (SELECT id FROM locked) AS "isLocked"
       FROM webhook_endpoints WHERE active AND ${condition}`,
      parameters,
    );
    return rows.map(({ keyId, ciphertext, ...endpoint }) => ({ ...endpoint, secret: { keyId, ciphertext } }));
  }
}

function changeColumns(changes: HealthChange[]): unknown[] {
  return [changes.map(({ tenantId }) => tenantId), changes.map(({ id }) => id), changes.map(({ at }) => at)];
}
