import { Injectable } from '@nestjs/common';
import { KeyRevocations } from '../access/key-revocations';
import { requirePermission, requireReadPermission } from '../access/require-permission';
import { AlertWriter } from '../alerts/alert-writer';
import { AuditService } from '../audit/audit.service';
import { changedValues, valuesOf } from '../audit/changed-values';
import { AppError } from '../common/app-error';
import { newId } from '../common/ids';
import { Actor, agentOf } from '../access/principal';
import { validate } from '../common/validate';
import { Config } from '../config/config';
import { Database } from '../database/database';
import { Transaction } from '../database/transaction';
import { RunningClaims } from '../queue/claims/running-claims';
import { WorkspacesRepository } from '../workspaces/workspaces.repository';
import { generateApiKey } from './api-key-token';
import {
  ApiKeySummary,
  CreateApiKey,
  CreatedApiKey,
  ListApiKeys,
  RevokeApiKey,
  RevokedApiKey,
} from './api-key.dto';
import { ApiKeysRepository, MAX_WORKING_KEYS } from './api-keys.repository';

/** Limit of the keys that one transaction revokes. */
const REVOKED_AT_ONCE = 100;
const DAY_MS = 24 * 60 * 60 * 1000;

/** Creates, lists and revokes a workspace's API keys, for the dashboard and the CLI, not for the REST API. */
@Injectable()
export class ApiKeysService {
  constructor(
    private readonly database: Database,
    private readonly keys: ApiKeysRepository,
    private readonly workspaces: WorkspacesRepository,
    private readonly audit: AuditService,
    private readonly config: Config,
    private readonly revocations: KeyRevocations,
    private readonly claims: RunningClaims,
    private readonly alerts: AlertWriter,
  ) {}

  /**
   * Creates a key. Only this result contains the key's value; the database stores a hash. A workspace has up
   * to 200 working keys. Of its revoked and expired keys, a creation deletes all but the latest 300.
   * @throws AppError INVALID_BODY: also if the workspace has 200 working keys; FORBIDDEN; NOT_FOUND (the
   *   workspace)
   */
  async create(tenantId: string, input: CreateApiKey, actor: Actor): Promise<CreatedApiKey> {
    const { name, scopes, expiresAt, allowedNetworks } = validate(CreateApiKey, input);
    const key = generateApiKey();
    const made = {
      id: newId(),
      name,
      scopes,
      allowedNetworks: allowedNetworks ?? null,
      createdBy: agentOf(actor),
      createdAt: new Date(),
      expiresAt: this.chooseExpiry(expiresAt),
    };
    return this.database.transaction(async (tx) => {
      // Without the lock on the workspace, two creations at once could exceed the limit of working keys.
      await this.workspaces.lock(tx, tenantId);
      await requirePermission(tx, tenantId, actor, 'api_key.create');
      if ((await this.keys.countWorking(tenantId, tx)) >= MAX_WORKING_KEYS)
        throw AppError.because('INVALID_BODY', 'too_many_keys', { max: MAX_WORKING_KEYS });
      await this.keys.deleteOldest(tx, tenantId);
      const created = await this.keys.insert(tx, tenantId, key, made);
      const subject = { tenantId, actor, entity: 'api_key', entityId: created.id };
      const after = valuesOf(created, ['name', 'scopes', 'expiresAt', 'allowedNetworks']);
      this.audit.appendPipelined(tx, { ...subject, action: 'api_key.created', after });
      return { ...created, key };
    });
  }

  /**
   * Lists all working keys of the workspace and the latest 300 revoked or expired ones, newest first. With
   * `unusedForDays` it lists only working keys that were neither created nor used in so many days.
   * @throws AppError INVALID_BODY, FORBIDDEN
   */
  async list(tenantId: string, input: ListApiKeys, actor: Actor): Promise<ApiKeySummary[]> {
    const { unusedForDays: days } = validate(ListApiKeys, input);
    await requireReadPermission(this.database, tenantId, actor, 'api_key.read');
    return days === undefined ? this.keys.list(tenantId) : this.keys.listUnused(tenantId, days);
  }

  /**
   * Counts the workspace's working keys.
   * @throws AppError FORBIDDEN
   */
  async countWorking(tenantId: string, actor: Actor): Promise<number> {
    await requireReadPermission(this.database, tenantId, actor, 'api_key.read');
    return this.keys.countWorking(tenantId);
  }

  /**
   * Revokes a key; every process refuses the key's next request. The same transaction deactivates the webhook
   * endpoints that the key made, or whose URL it set last, and cancels their pending deliveries: no attempt
   * begins after the call has returned. With
   * `replacedBy`, it passes the endpoints to that key instead. A repeated call does this for endpoints that
   * still belong to the key.
   * @throws AppError INVALID_BODY: the reason is missing, or `replacedBy` is no other working key of the
   *   workspace; FORBIDDEN, NOT_FOUND
   */
  async revoke(tenantId: string, id: string, input: RevokeApiKey, actor: Actor): Promise<RevokedApiKey> {
    const given = checkRevocation(input);
    const revoked = await this.database.transaction(async (tx) => {
      // Without the workspace's lock, revocations that name each other's key as `replacedBy` could deadlock.
      await this.workspaces.lock(tx, tenantId);
      await requirePermission(tx, tenantId, actor, 'api_key.revoke');
      const key = await this.keys.lock(tx, tenantId, id);
      if (!key) throw AppError.notFound('API key');
      await this.requireReplacement(tx, tenantId, given, (other) => other.id !== key.id);
      return this.revokeLocked(tx, tenantId, key, given, actor);
    });
    await this.waitForClaims(tenantId, [revoked]);
    return revoked;
  }

  /**
   * Revokes all keys that an agent has created, each as `revoke` does, 100 in one transaction. After an
   * interruption, call it again to revoke the remaining keys.
   * @returns the keys that this call has revoked
   * @throws AppError INVALID_BODY: the reason is missing, or `replacedBy` is no working key of the workspace,
   *   or this agent created it; FORBIDDEN
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
        for (const key of keys) all.push(await this.revokeLocked(tx, tenantId, key, given, actor));
        return keys.length;
      });
    }
    await this.waitForClaims(tenantId, all);
    return all;
  }

  /**
   * Waits until no claimed delivery to a deactivated endpoint can start any more. A repeated revocation finds
   * the endpoints inactive, and waits too.
   */
  private async waitForClaims(tenantId: string, revoked: RevokedApiKey[]): Promise<void> {
    const endpoints = revoked.flatMap((key) => key.endpoints);
    const inactive = endpoints.filter(({ outcome }) => outcome === 'DEACTIVATED' || outcome === 'INACTIVE');
    const ids = inactive.map(({ id }) => id);
    if (ids.length > 0) await this.claims.waitForEndpoints(tenantId, ids);
  }

  private async revokeLocked(
    tx: Transaction,
    tenantId: string,
    key: ApiKeySummary,
    { reason, replacedBy }: RevokeApiKey,
    actor: Actor,
  ): Promise<RevokedApiKey> {
    const { id: keyId, name } = key;
    const revoked = { ...key, revokedAt: key.revokedAt ?? new Date() };
    await this.keys.revoke(tx, tenantId, keyId, revoked.revokedAt);
    await this.alerts.resolve(tx, tenantId, ['KEY_ENDING'], keyId);
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
    return { ...revoked, endpoints };
  }

  /** Refuses a replacement key that does not work. Locks its row, so that it works until the commit. */
  private async requireReplacement(
    tx: Transaction,
    tenantId: string,
    { replacedBy }: RevokeApiKey,
    isOther: (key: ApiKeySummary) => boolean,
  ): Promise<void> {
    if (replacedBy === undefined) return;
    const key = await this.keys.lock(tx, tenantId, replacedBy);
    const works = key && key.revokedAt === null && !(key.expiresAt && key.expiresAt <= new Date());
    if (!works || !isOther(key)) throw AppError.invalidBody('replacedBy', 'key_does_not_work');
  }

  /**
   * Returns the time at which a new key expires; null for never.
   * @throws AppError INVALID_BODY: the key would live longer than the operator allows
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
 * Validates the input of a revocation. Only the reason `REPLACED` allows a replacement, and it requires one.
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
