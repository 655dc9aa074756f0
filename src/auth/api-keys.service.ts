import { Injectable } from '@nestjs/common';
import { KeyRevocations } from '../access/key-revocations';
import { requirePermission, requireReadPermission } from '../access/require-permission';
import { AuditService } from '../audit/audit.service';
import { changedValues, valuesOf } from '../audit/changed-values';
import { AppError } from '../common/app-error';
import { newId } from '../common/ids';
import { Actor } from '../access/principal';
import { validate } from '../common/validate';
import { Config } from '../config/config';
import { Database } from '../database/database';
import { Transaction } from '../database/transaction';
import { WorkspacesRepository } from '../workspaces/workspaces.repository';
import { generateApiKey, hashApiKey } from './api-key-token';
import {
  ApiKeySummary,
  CreateApiKey,
  CreatedApiKey,
  ListApiKeys,
  RevokeApiKey,
  RevokedApiKey,
  toApiKeySummary,
} from './api-key.dto';
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
    private readonly revocations: KeyRevocations,
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
   * Revokes a key: every process refuses its next request. In the same transaction the webhook endpoints that
   * it made, or whose URL it set last, are deactivated, and what they are owed is cancelled; or the key that
   * replaces it takes them over. A second call finds the key revoked, and does the same to endpoints that are
   * still the key's.
   * @throws AppError INVALID_BODY: no reason, or a replacement that is no other working key of the workspace;
   *   FORBIDDEN, NOT_FOUND
   */
  async revoke(tenantId: string, id: string, input: RevokeApiKey, actor: Actor): Promise<RevokedApiKey> {
    const given = checkRevocation(input);
    return this.database.transaction(async (tx) => {
      // Two revocations that name each other's key as the new one would lock both in different orders.
      await this.workspaces.lock(tx, tenantId);
      await requirePermission(tx, tenantId, actor, 'api_key.revoke');
      const key = await this.keys.lock(tx, tenantId, id);
      if (!key) throw AppError.notFound('API key');
      await this.requireReplacement(tx, tenantId, given, (other) => other.id !== key.id);
      return this.revokeLocked(tx, key, given, actor);
    });
  }

  /**
   * Revokes all keys that an agent has created, such as a deactivated one, each as `revoke` does, in steps of
   * 100. Each key has its entry in the audit log. A second call revokes what an interrupted one has left.
   * @returns the keys that this call has revoked
   * @throws AppError INVALID_BODY: no reason, or a replacement that is no working key of another creator in
   *   the workspace; FORBIDDEN
   */
  async revokeByCreator(
    tenantId: string,
    agentId: string,
    input: RevokeApiKey,
    actor: Actor,
  ): Promise<RevokedApiKey[]> {
    const given = checkRevocation(input);
    const all: RevokedApiKey[] = [];
    for (let revoked = REVOKED_AT_ONCE; revoked === REVOKED_AT_ONCE;) {
      revoked = await this.database.transaction(async (tx) => {
        await this.workspaces.lock(tx, tenantId);
        await requirePermission(tx, tenantId, actor, 'api_key.revoke');
        await this.requireReplacement(tx, tenantId, given, (other) => other.createdBy !== agentId);
        const keys = await this.keys.lockActiveByCreator(tx, tenantId, agentId, REVOKED_AT_ONCE);
        for (const key of keys) all.push(await this.revokeLocked(tx, key, given, actor));
        return keys.length;
      });
    }
    return all;
  }

  private async revokeLocked(
    tx: Transaction,
    key: ApiKeyEntity,
    { reason, replacedBy }: RevokeApiKey,
    actor: Actor,
  ): Promise<RevokedApiKey> {
    const { tenantId, id: keyId, name } = key;
    const revoked = { ...key, revokedAt: key.revokedAt ?? new Date() };
    await this.keys.revoke(tx, tenantId, keyId, revoked.revokedAt);
    const revocation = { tenantId, keyId, replacedBy: replacedBy ?? null, actor };
    const endpoints = await this.revocations.apply(tx, revocation);
    const changed = changedValues(key, revoked, ['revokedAt']);
    const subject = { tenantId, actor, entity: 'api_key', entityId: keyId, action: 'api_key.revoked' };
    if (changed)
      this.audit.appendPipelined(tx, {
        ...subject,
        ...changed,
        metadata: { name, reason, ...(replacedBy && { replacedBy }) },
      });
    return { ...toApiKeySummary(revoked), endpoints };
  }

  /**
   * Refuses a new key that does not work, is another workspace's, or is itself revoked. Its lock is kept, so
   * that it works when the revocation commits.
   */
  private async requireReplacement(
    tx: Transaction,
    tenantId: string,
    { replacedBy }: RevokeApiKey,
    isOther: (key: ApiKeyEntity) => boolean,
  ): Promise<void> {
    if (replacedBy === undefined) return;
    const key = await this.keys.lock(tx, tenantId, replacedBy);
    const works = key && key.revokedAt === null && !(key.expiresAt && key.expiresAt <= new Date());
    if (!works || !isOther(key)) throw AppError.invalidBody('replacedBy', 'key_does_not_work');
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

/**
 * Checks that a revocation names a new key exactly if one replaces the key.
 * @throws AppError INVALID_BODY
 */
function checkRevocation(input: RevokeApiKey): RevokeApiKey {
  const given = validate(RevokeApiKey, input);
  if (given.reason === 'REPLACED' && given.replacedBy === undefined)
    throw AppError.invalidBody('replacedBy', 'required');
  if (given.reason === 'LEAKED' && given.replacedBy !== undefined)
    throw AppError.invalidBody('replacedBy', 'only_with_replaced');
  return given;
}
