import { Injectable } from '@nestjs/common';
import { IsNull } from 'typeorm';
import { groupByWorkspace } from '../common/group-by';
import { isId } from '../common/ids';
import { Principal } from '../access/principal';
import { Scope } from '../access/permissions';
import { Database, Reader } from '../database/database';
import { Transaction } from '../database/transaction';
import { FoundKey } from '../http/limits/key-lookup';
import { ApiKeyEntity } from './api-key.entity';

/** Limit of a workspace's keys that work. */
export const MAX_WORKING_KEYS = 200;
/** Number of a workspace's keys that are kept though they were revoked or have expired. */
const KEPT_ENDED_KEYS = 300;
/** Number of older ones that one creation deletes. */
const DELETED_AT_ONCE = 100;

const WORKS = 'revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())';

export type RefusedApiKey = Pick<ApiKeyEntity, 'tenantId' | 'id' | 'name' | 'hash'> & {
  reason: 'revoked' | 'expired' | 'address' | 'other';
};

/** Workspace and id of a key, which its hash leads to. */
export type ApiKeyOwner = Pick<ApiKeyEntity, 'tenantId' | 'id'>;

interface HashedKey extends ApiKeyOwner {
  hash: Buffer;
}

export interface Authenticated {
  principal: Principal;
  /** Networks (CIDR) from which the key may be used; null for all. */
  allowedNetworks: string[] | null;
  /** Whether the recorded last use is more than a minute old. */
  isUseStale: boolean;
}

@Injectable()
export class ApiKeysRepository {
  constructor(private readonly database: Database) {}

  /**
   * Reads a key with its workspace, on every request. Nothing of them is cached, so a revocation takes effect
   * at once.
   */
  async authenticate({ tenantId, id: keyId }: ApiKeyOwner, hash: Buffer): Promise<Authenticated | null> {
    const [row] = await this.database.pipelinedRead<AuthenticationRow>(
      `SELECT k.id AS key_id, k.scopes, k.allowed_networks,
              coalesce(k.last_used_at < now() - interval '1 minute', true) AS use_is_stale,
              w.id, w.name, w.slug, w.plan_tier, w.trial_ends_at, w.rate_limit,
              w.suspended_at IS NOT NULL AS is_suspended
       FROM api_keys k JOIN workspaces w ON w.id = $1
       WHERE k.tenant_id = $1 AND k.id = $2 AND k.hash = $3 AND k.revoked_at IS NULL
         AND (k.expires_at IS NULL OR k.expires_at > now())`,
      [tenantId, keyId, hash],
    );
    if (!row) return null;
    const { id, name, slug, plan_tier: planTier, trial_ends_at: trialEndsAt, rate_limit: rateLimit } = row;
    const isSuspended = row.is_suspended;
    return {
      principal: {
        apiKeyId: row.key_id,
        scopes: row.scopes,
        tenant: { id, name, slug, planTier, trialEndsAt, rateLimit, isSuspended },
      },
      allowedNetworks: row.allowed_networks,
      isUseStale: row.use_is_stale,
    };
  }

  /**
   * Returns the workspace and id of the key of each hash that has one. Keys that were revoked or have
   * expired are left out, unless their workspaces would have to be read one by one.
   */
  async lookUp(hashes: Buffer[]): Promise<FoundKey<ApiKeyOwner>[]> {
    const rows = this.database.spansWorkspaces
      ? await this.database.prepared<HashedKey>(
          `SELECT k.hash, k.tenant_id AS "tenantId", k.id
           FROM api_key_hashes h JOIN api_keys k ON k.tenant_id = h.tenant_id AND k.id = h.id
           WHERE h.hash = ANY ($1::bytea[]) AND ${WORKS}`,
          [hashes],
        )
      : await this.findOwners(hashes);
    return rows.map(({ hash, ...owner }) => ({ key: hash, owner }));
  }

  /** Returns the keys with these hashes, also revoked and expired ones, and why they are refused now. */
  async findByHashes(hashes: Buffer[]): Promise<RefusedApiKey[]> {
    const found: RefusedApiKey[] = [];
    for (const [tenantId, owners] of groupByWorkspace(await this.findOwners(hashes))) {
      const rows = await this.database.query<RefusedApiKey>(
        `SELECT tenant_id AS "tenantId", id, name, hash,
                CASE WHEN revoked_at IS NOT NULL THEN 'revoked' WHEN expires_at <= now() THEN 'expired'
                     WHEN allowed_networks IS NOT NULL THEN 'address' ELSE 'other' END AS reason
         FROM api_keys WHERE tenant_id = $1 AND id = ANY ($2)`,
        [tenantId, owners.map(({ id }) => id)],
      );
      found.push(...rows);
    }
    return found;
  }

  private findOwners(hashes: Buffer[]): Promise<HashedKey[]> {
    return this.database.prepared(
      'SELECT hash, tenant_id AS "tenantId", id FROM api_key_hashes WHERE hash = ANY ($1::bytea[])',
      [hashes],
    );
  }

  /** Records a use of the key, at most once a minute. */
  async markUsed(tenantId: string, id: string): Promise<void> {
    await this.database.query(
      `UPDATE api_keys SET last_used_at = now()
       WHERE tenant_id = $1 AND id = $2 AND (last_used_at IS NULL OR last_used_at < now() - interval '1 minute')`,
      [tenantId, id],
    );
  }

  /** Counts the keys that work. */
  async countWorking(tenantId: string, reader: Reader = this.database): Promise<number> {
    const [row] = await reader.query<{ count: number }>(
      `SELECT count(*)::integer AS count FROM api_keys WHERE tenant_id = $1 AND ${WORKS}`,
      [tenantId],
    );
    return row!.count;
  }

  /** Lists the keys that work, and the latest that do not, newest first. */
  async list(tenantId: string): Promise<ApiKeyEntity[]> {
    if (!isId(tenantId)) return [];
    // One after the other, because a request uses one connection.
    const working = await this.listLatest(tenantId, WORKS, MAX_WORKING_KEYS);
    const ended = await this.listLatest(tenantId, `NOT (${WORKS})`, KEPT_ENDED_KEYS);
    return [...working, ...ended].sort((one, other) => (one.id < other.id ? 1 : -1));
  }

  private listLatest(tenantId: string, condition: string, count: number): Promise<ApiKeyEntity[]> {
    return this.database.manager
      .createQueryBuilder(ApiKeyEntity, 'key')
      .where('key.tenantId = :tenantId', { tenantId })
      .andWhere(condition)
      .orderBy('key.id', 'DESC')
      .take(count)
      .getMany();
  }

  /** Deletes the oldest keys that do not work any more, beyond those that are kept. */
  async deleteOldest(tx: Transaction, tenantId: string): Promise<void> {
    const deleted = await tx.query<{ hash: Buffer }>(
      `DELETE FROM api_keys WHERE tenant_id = $1 AND id IN (
         SELECT id FROM api_keys WHERE tenant_id = $1 AND NOT (${WORKS}) ORDER BY id DESC
         LIMIT ${DELETED_AT_ONCE} OFFSET ${KEPT_ENDED_KEYS})
       RETURNING hash`,
      [tenantId],
    );
    if (deleted.length === 0) return;
    await tx.query('DELETE FROM api_key_hashes WHERE hash = ANY ($1)', [deleted.map(({ hash }) => hash)]);
  }

  /**
   * Lists the keys that still work, and were neither used nor created within so many days by the database's
   * clock.
   */
  async listUnused(tenantId: string, days: number): Promise<ApiKeyEntity[]> {
    if (!isId(tenantId)) return [];
    return this.database.manager
      .createQueryBuilder(ApiKeyEntity, 'key')
      .where('key.tenantId = :tenantId AND key.revokedAt IS NULL', { tenantId })
      .andWhere('(key.expiresAt IS NULL OR key.expiresAt > now())')
      .andWhere(`coalesce(key.lastUsedAt, key.createdAt) < now() - :days * interval '1 day'`, { days })
      .orderBy('key.id', 'DESC')
      .take(MAX_WORKING_KEYS)
      .getMany();
  }

  async insert(tx: Transaction, key: ApiKeyEntity): Promise<void> {
    await tx.query('INSERT INTO api_key_hashes (hash, tenant_id, id) VALUES ($1, $2, $3)', [
      key.hash,
      key.tenantId,
      key.id,
    ]);
    await tx.manager.insert(ApiKeyEntity, key);
  }

  /** Locks a key's row, after all changes that share its lock. */
  async lock(tx: Transaction, tenantId: string, id: string): Promise<ApiKeyEntity | null> {
    if (!isId(id)) return null;
    return tx.manager.findOne(ApiKeyEntity, { where: { tenantId, id }, lock: { mode: 'pessimistic_write' } });
  }

  /** Locks up to `count` keys that an agent has created, and that are not revoked, as `lock` does. */
  async lockActiveByCreator(
    tx: Transaction,
    tenantId: string,
    agentId: string,
    count: number,
  ): Promise<ApiKeyEntity[]> {
    if (!isId(agentId)) return [];
    return tx.manager.find(ApiKeyEntity, {
      where: { tenantId, createdBy: agentId, revokedAt: IsNull() },
      order: { id: 'ASC' },
      take: count,
      lock: { mode: 'pessimistic_write' },
    });
  }

  async revoke(tx: Transaction, tenantId: string, id: string, revokedAt: Date): Promise<void> {
    await tx.manager.update(ApiKeyEntity, { tenantId, id }, { revokedAt });
  }
}

interface AuthenticationRow {
  key_id: string;
  scopes: Scope[];
  allowed_networks: string[] | null;
  use_is_stale: boolean;
  id: string;
  name: string;
  slug: string;
  plan_tier: string;
  trial_ends_at: Date | null;
  rate_limit: number | null;
  is_suspended: boolean;
}
