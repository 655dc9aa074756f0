import { Injectable } from '@nestjs/common';
import { isId } from '../common/ids';
import { Principal } from '../common/principal';
import { Scope } from '../common/scope';
import { Database } from '../database/database';
import { Transaction } from '../database/transaction';
import { ApiKeyEntity } from './api-key.entity';

interface Authenticated {
  principal: Principal;
  /** Whether `last_used_at` is more than a minute old. */
  isUseStale: boolean;
}

@Injectable()
export class ApiKeysRepository {
  constructor(private readonly database: Database) {}

  /** One read on every request, without a cache: so a revocation takes effect at once. */
  async authenticate(hash: Buffer): Promise<Authenticated | null> {
    const [row] = await this.database.pipelinedRead<AuthenticationRow>(
      `SELECT k.id AS key_id, k.scopes, coalesce(k.last_used_at < now() - interval '1 minute', true) AS use_is_stale,
              w.id, w.name, w.slug, w.plan_tier, w.trial_ends_at, w.rate_limit
       FROM api_keys k JOIN workspaces w ON w.id = k.tenant_id
       WHERE k.hash = $1 AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now())`,
      [hash],
    );
    if (!row) return null;
    const { id, name, slug, plan_tier: planTier, trial_ends_at: trialEndsAt, rate_limit: rateLimit } = row;
    return {
      principal: {
        apiKeyId: row.key_id,
        scopes: row.scopes,
        tenant: { id, name, slug, planTier, trialEndsAt, rateLimit },
      },
      isUseStale: row.use_is_stale,
    };
  }

  async markUsed(tenantId: string, id: string): Promise<void> {
    await this.database.query(
      `UPDATE api_keys SET last_used_at = now()
       WHERE tenant_id = $1 AND id = $2 AND (last_used_at IS NULL OR last_used_at < now() - interval '1 minute')`,
      [tenantId, id],
    );
  }

  async list(tenantId: string): Promise<ApiKeyEntity[]> {
    if (!isId(tenantId)) return [];
    return this.database.manager.find(ApiKeyEntity, { where: { tenantId }, order: { id: 'DESC' } });
  }

  async insert(tx: Transaction, key: ApiKeyEntity): Promise<void> {
    await tx.manager.insert(ApiKeyEntity, key);
  }

  async lock(tx: Transaction, tenantId: string, id: string): Promise<ApiKeyEntity | null> {
    if (!isId(id)) return null;
    return tx.manager.findOne(ApiKeyEntity, { where: { tenantId, id }, lock: { mode: 'for_no_key_update' } });
  }

  async revoke(tx: Transaction, tenantId: string, id: string, revokedAt: Date): Promise<void> {
    await tx.manager.update(ApiKeyEntity, { tenantId, id }, { revokedAt });
  }
}

interface AuthenticationRow {
  key_id: string;
  scopes: Scope[];
  use_is_stale: boolean;
  id: string;
  name: string;
  slug: string;
  plan_tier: string;
  trial_ends_at: Date | null;
  rate_limit: number | null;
}
