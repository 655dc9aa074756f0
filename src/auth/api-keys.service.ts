import { Injectable } from '@nestjs/common';
import { requirePermission, requireReadPermission } from '../access/require-permission';
import { AuditService } from '../audit/audit.service';
import { changedValues, valuesOf } from '../audit/changed-values';
import { AppError } from '../common/app-error';
import { newId } from '../common/ids';
import { Actor } from '../common/principal';
import { validate } from '../common/validate';
import { Config } from '../config/config';
import { Database } from '../database/database';
import { Transaction } from '../database/transaction';
import { WorkspacesRepository } from '../workspaces/workspaces.repository';
import { generateApiKey, hashApiKey } from './api-key-token';
import { ApiKeySummary, CreateApiKey, CreatedApiKey, ListApiKeys, toApiKeySummary } from './api-key.dto';
import { ApiKeyEntity } from './api-key.entity';
import { ApiKeysRepository, MAX_WORKING_KEYS } from './api-keys.repository';

const PREFIX_LENGTH = 'plk_'.length;
const SHOWN_CHARS = 4;
/** Limit of the keys that one transaction revokes. */
const REVOKED_AT_ONCE = 100;
const DAY_MS = 24 * 60 * 60 * 1000;

/** Manages a workspace's API keys, for the dashboard and the CLI. The REST API has no route for it. */
@Injectable()
export class ApiKeysService {
  constructor(
    private readonly database: Database,
    private readonly keys: ApiKeysRepository,
    private readonly workspaces: WorkspacesRepository,
    private readonly audit: AuditService,
    private readonly config: Config,
  ) {}

  /**
   * Creates a key. Only this result holds its value; the database stores a hash. A workspace has up to 200
   * keys that work. Of the others it keeps the latest 300: a creation deletes older ones.
   * @throws AppError INVALID_BODY, also for one key too many; FORBIDDEN; NOT_FOUND (the workspace)
   */
  async create(tenantId: string, input: CreateApiKey, actor: Actor): Promise<CreatedApiKey> {
    const { name, scopes, expiresAt, allowedNetworks } = validate(CreateApiKey, input);
    const key = generateApiKey();
    const entity: ApiKeyEntity = {
      id: newId(),
      tenantId,
      name,
      hash: hashApiKey(key),
      firstChars: key.slice(PREFIX_LENGTH, PREFIX_LENGTH + SHOWN_CHARS),
      lastChars: key.slice(-SHOWN_CHARS),
      scopes,
      allowedNetworks: allowedNetworks ?? null,
      createdBy: actor.type === 'agent' ? actor.id : null,
      createdAt: new Date(),
      lastUsedAt: null,
      expiresAt: this.chooseExpiry(expiresAt),
      revokedAt: null,
    };
    await this.database.transaction(async (tx) => {
      // Two creations at once could otherwise exceed the limit.
      await this.workspaces.lock(tx, tenantId);
      await requirePermission(tx, tenantId, actor, 'api_key.create');
      if ((await this.keys.countWorking(tenantId, tx)) >= MAX_WORKING_KEYS)
        throw AppError.because('INVALID_BODY', 'too_many_keys', { max: MAX_WORKING_KEYS });
      await this.keys.deleteOldest(tx, tenantId);
      await this.keys.insert(tx, entity);
      const subject = { tenantId, actor, entity: 'api_key', entityId: entity.id };
      const after = valuesOf(entity, ['name', 'scopes', 'expiresAt', 'allowedNetworks']);
      this.audit.appendPipelined(tx, { ...subject, action: 'api_key.created', after });
    });
    return { ...toApiKeySummary(entity), key };
  }

  /**
   * Lists the keys of the workspace, newest first: those that work, and the latest 300 that were revoked or
   * have expired. With `unusedForDays` it lists only keys that still work and were not used for so many days.
   * @throws AppError INVALID_BODY, FORBIDDEN
   */
  async list(tenantId: string, input: ListApiKeys, actor: Actor): Promise<ApiKeySummary[]> {
    const { unusedForDays: days } = validate(ListApiKeys, input);
    await requireReadPermission(this.database, tenantId, actor, 'api_key.read');
    const keys = days === undefined ? this.keys.list(tenantId) : this.keys.listUnused(tenantId, days);
    return (await keys).map(toApiKeySummary);
  }

  /**
   * Counts the keys of the workspace that work.
   * @throws AppError FORBIDDEN
   */
  async countWorking(tenantId: string, actor: Actor): Promise<number> {
    await requireReadPermission(this.database, tenantId, actor, 'api_key.read');
    return this.keys.countWorking(tenantId);
  }

  /**
   * Revokes a key: every process refuses its next request. A second call changes nothing.
   * @throws AppError FORBIDDEN, NOT_FOUND
   */
  async revoke(tenantId: string, id: string, actor: Actor): Promise<ApiKeySummary> {
    return this.database.transaction(async (tx) => {
      await requirePermission(tx, tenantId, actor, 'api_key.revoke');
      const key = await this.keys.lock(tx, tenantId, id);
      if (!key) throw AppError.notFound('API key');
      return toApiKeySummary(key.revokedAt ? key : await this.revokeLocked(tx, key, actor));
    });
  }

  /**
   * Revokes all keys that an agent has created, such as a deactivated one, in steps of 100. Each key has its
   * entry in the audit log. A second call revokes what an interrupted one has left.
   * @returns the keys that this call has revoked
   * @throws AppError FORBIDDEN
   */
  async revokeByCreator(tenantId: string, agentId: string, actor: Actor): Promise<ApiKeySummary[]> {
    const all: ApiKeySummary[] = [];
    for (let revoked = REVOKED_AT_ONCE; revoked === REVOKED_AT_ONCE;) {
      revoked = await this.database.transaction(async (tx) => {
        await requirePermission(tx, tenantId, actor, 'api_key.revoke');
        const keys = await this.keys.lockActiveByCreator(tx, tenantId, agentId, REVOKED_AT_ONCE);
        for (const key of keys) all.push(toApiKeySummary(await this.revokeLocked(tx, key, actor)));
        return keys.length;
      });
    }
    return all;
  }

  private async revokeLocked(tx: Transaction, key: ApiKeyEntity, actor: Actor): Promise<ApiKeyEntity> {
    const { tenantId, id, name } = key;
    const revoked = { ...key, revokedAt: new Date() };
    await this.keys.revoke(tx, tenantId, id, revoked.revokedAt);
    const subject = { tenantId, actor, entity: 'api_key', entityId: id };
    const changed = changedValues(key, revoked, ['revokedAt']);
    this.audit.appendPipelined(tx, { ...subject, action: 'api_key.revoked', ...changed, metadata: { name } });
    return revoked;
  }

  /**
   * Returns the time at which a new key expires; null for never.
   * @throws AppError INVALID_BODY: later than the longest life that the operator allows
   */
  private chooseExpiry(expiresAt: Date | undefined): Date | null {
    const { apiKeyMaxLifeDays: days } = this.config;
    if (days === null) return expiresAt ?? null;
    const latest = new Date(Date.now() + days * DAY_MS);
    if (expiresAt && expiresAt > latest) throw AppError.invalidBody('expiresAt', 'key_life', { days });
    return expiresAt ?? latest;
  }
}
