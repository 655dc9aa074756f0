import { Injectable } from '@nestjs/common';
import { groupByWorkspace } from '../common/group-by';
import { isId } from '../common/ids';
import { Principal, PrincipalTenant } from '../access/principal';
import { Database, Reader } from '../database/database';
import { Transaction } from '../database/transaction';
import { FoundKey } from '../http/limits/key-lookup';
import { ApiKeySummary } from './api-key.dto';
import { hashApiKey } from './api-key-token';

/** Limit of a workspace's keys that are neither revoked nor expired. */
export const MAX_WORKING_KEYS = 200;
/** Number of a workspace's revoked and expired keys that stay stored. */
const KEPT_ENDED_KEYS = 300;
/** Limit of the revoked and expired keys that one creation of a key deletes. */
const DELETED_AT_ONCE = 100;

const WORKS = 'revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())';

const SUMMARY = `id, name, 'plk_' || first_chars || '…' || last_chars AS preview, scopes,
  allowed_networks AS "allowedNetworks", created_by AS "createdBy", created_at AS "createdAt",
  last_used_at AS "lastUsedAt", expires_at AS "expiresAt", revoked_at AS "revokedAt"`;

export interface ApiKeyOwner {
  tenantId: string;
  id: string;
}

interface RefusedApiKey extends HashedKey {
  name: string;
  reason: 'revoked' | 'expired' | 'address' | 'other';
}

type NewApiKey = Pick<
  ApiKeySummary,
  'id' | 'name' | 'scopes' | 'allowedNetworks' | 'createdBy' | 'createdAt' | 'expiresAt'
>;

interface HashedKey extends ApiKeyOwner {
  hash: Buffer;
}

interface Authenticated {
  principal: Principal;
  allowedNetworks: string[] | null;
  /** Whether the recorded last use is more than a minute old. */
  isUseStale: boolean;
}

@Injectable()
export class ApiKeysRepository {
  constructor(private readonly database: Database) {}

  /** Reads a working key with its workspace. Nothing is cached, so a revocation takes effect at once. */
  async authenticate({ tenantId, id: keyId }: ApiKeyOwner, hash: Buffer): Promise<Authenticated | null> {
    const [row] = await this.database.pipelinedRead<AuthenticationRow>(
      `SELECT k.id AS "apiKeyId", k.scopes, k.allowed_networks AS "allowedNetworks",
              coalesce(k.last_used_at < now() - interval '1 minute', true) AS "isUseStale",
              w.id, w.name, w.slug, w.plan_tier AS "planTier", w.trial_ends_at AS "trialEndsAt",
              w.rate_limit AS "rateLimit", w.suspended_at IS NOT NULL AS "isSuspended"
       FROM api_keys k JOIN workspaces w ON w.id = $1
       WHERE k.tenant_id = $1 AND k.id = $2 AND k.hash = $3 AND k.revoked_at IS NULL
         AND (k.expires_at IS NULL OR k.expires_at > now())`,
      [tenantId, keyId, hash],
    );
    if (!row) return null;
    const { apiKeyId, scopes, allowedNetworks, isUseStale, ...tenant } = row;
    return { principal: { apiKeyId, scopes, tenant }, allowedNetworks, isUseStale };
  }

  /** Finds the keys with these hashes. Revoked and expired keys may be among them. */
  async lookUp(hashes: Buffer[]): Promise<FoundKey<ApiKeyOwner>[]> {
    const working = await this.database.preparedAcross<HashedKey>(
      `SELECT k.hash, k.tenant_id AS "tenantId", k.id
       FROM api_key_hashes h JOIN api_keys k ON k.tenant_id = h.tenant_id AND k.id = h.id
       WHERE h.hash = ANY ($1::bytea[]) AND ${WORKS}`,
      [hashes],
    );
    const rows = working ?? (await this.findOwners(hashes));
    return rows.map(({ hash, ...owner }) => ({ key: hash, owner }));
  }

  /** Returns the keys with these hashes, working or not, and the reason why each is refused now. */
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

  async markUsed(tenantId: string, id: string): Promise<void> {
    await this.database.query(
      `UPDATE api_keys SET last_used_at = now()
       WHERE tenant_id = $1 AND id = $2 AND (last_used_at IS NULL OR last_used_at < now() - interval '1 minute')`,
      [tenantId, id],
    );
  }

  async countWorking(tenantId: string, reader: Reader = this.database): Promise<number> {
    const [row] = await reader.query<{ count: number }>(
      `SELECT count(*)::integer AS count FROM api_keys WHERE tenant_id = $1 AND ${WORKS}`,
      [tenantId],
    );
    return row!.count;
  }

  /** Lists the working keys and the latest 300 revoked or expired ones, newest first. */
  async list(tenantId: string): Promise<ApiKeySummary[]> {
    if (!isId(tenantId)) return [];
    // The two queries run one after the other, because a request uses one connection.
    const working = await this.listLatest(tenantId, WORKS, MAX_WORKING_KEYS);
    const ended = await this.listLatest(tenantId, `NOT (${WORKS})`, KEPT_ENDED_KEYS);
    return [...working, ...ended].sort((one, other) => (one.id < other.id ? 1 : -1));
  }

  private listLatest(tenantId: string, condition: string, count: number): Promise<ApiKeySummary[]> {
    return this.database.query(
      `SELECT ${SUMMARY} FROM api_keys WHERE tenant_id = $1 AND ${condition} ORDER BY id DESC LIMIT ${count}`,
      [tenantId],
    );
  }

  /** Deletes revoked and expired keys except the workspace's latest 300. One call deletes at most 100. */
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

  /** Lists the working keys that were neither used nor created in the last `days` days, newest first. */
  async listUnused(tenantId: string, days: number): Promise<ApiKeySummary[]> {
    if (!isId(tenantId)) return [];
    return this.database.query(
      `SELECT ${SUMMARY} FROM api_keys
       WHERE tenant_id = $1 AND ${WORKS} AND coalesce(last_used_at, created_at) < now() - $2 * interval '1 day'
       ORDER BY id DESC LIMIT ${MAX_WORKING_KEYS}`,
      [tenantId, days],
    );
  }

  /** Adds a key. Of its value, only the hash and 8 characters for recognition are stored. */
  async insert(tx: Transaction, tenantId: string, value: string, key: NewApiKey): Promise<ApiKeySummary> {
    const { id, name, scopes, allowedNetworks, createdBy, createdAt, expiresAt } = key;
    const hash = hashApiKey(value);
    await tx.query('INSERT INTO api_key_hashes (hash, tenant_id, id) VALUES ($1, $2, $3)', [
      hash,
      tenantId,
      id,
    ]);
    const [inserted] = await tx.query<ApiKeySummary>(
      `INSERT INTO api_keys (tenant_id, id, hash, first_chars, last_chars, name, scopes, allowed_networks, created_by,
         created_at, expires_at)
       VALUES ($1, $2, $3, left(substr($4, 5), 4), right($4, 4), $5, $6, $7, $8, $9, $10) RETURNING ${SUMMARY}`,
      [tenantId, id, hash, value, name, scopes, allowedNetworks, createdBy, createdAt, expiresAt],
    );
    return inserted!;
  }

  /** Locks a key's row, once all transactions that called `lockWorkingKey` for it have ended. */
  async lock(tx: Transaction, tenantId: string, id: string): Promise<ApiKeySummary | null> {
    if (!isId(id)) return null;
    const [key] = await tx.query<ApiKeySummary>(
      `SELECT ${SUMMARY} FROM api_keys WHERE tenant_id = $1 AND id = $2 FOR UPDATE`,
      [tenantId, id],
    );
    return key ?? null;
  }

  async lockActiveByCreator(
    tx: Transaction,
    tenantId: string,
    agentId: string,
    count: number,
  ): Promise<ApiKeySummary[]> {
    if (!isId(agentId)) return [];
    return tx.query(
      `SELECT ${SUMMARY} FROM api_keys WHERE tenant_id = $1 AND created_by = $2 AND revoked_at IS NULL
       ORDER BY id LIMIT $3 FOR UPDATE`,
      [tenantId, agentId, count],
    );
  }

  async revoke(tx: Transaction, tenantId: string, id: string, revokedAt: Date): Promise<void> {
    await tx.query('UPDATE api_keys SET revoked_at = $3 WHERE tenant_id = $1 AND id = $2', [
      tenantId,
      id,
      revokedAt,
    ]);
  }
}

type AuthenticationRow = Pick<Principal, 'apiKeyId' | 'scopes'> &
  Omit<Authenticated, 'principal'> &
  PrincipalTenant;
