import { Injectable } from '@nestjs/common';
import { AuditService } from '../audit/audit.service';
import { AppError } from '../common/app-error';
import { newId } from '../common/ids';
import { Actor } from '../common/principal';
import { validate } from '../common/validate';
import { Database } from '../database/database';
import { generateApiKey, hashApiKey } from './api-key-token';
import { ApiKeySummary, CreateApiKey, CreatedApiKey, toApiKeySummary } from './api-key.dto';
import { ApiKeyEntity } from './api-key.entity';
import { ApiKeysRepository } from './api-keys.repository';

const PREFIX_LENGTH = 'plk_'.length;
const SHOWN_CHARS = 4;

/** Manages a workspace's API keys, for the dashboard and the CLI. No route does. */
@Injectable()
export class ApiKeysService {
  constructor(
    private readonly database: Database,
    private readonly keys: ApiKeysRepository,
    private readonly audit: AuditService,
  ) {}

  /**
   * Creates a key. Only this result holds its value; the database stores a hash.
   * @throws AppError INVALID_BODY; NOT_FOUND (the workspace)
   */
  async create(tenantId: string, input: CreateApiKey, actor: Actor): Promise<CreatedApiKey> {
    const { name, scopes, expiresAt } = validate(CreateApiKey, input);
    const key = generateApiKey();
    const entity: ApiKeyEntity = {
      id: newId(),
      tenantId,
      name,
      hash: hashApiKey(key),
      firstChars: key.slice(PREFIX_LENGTH, PREFIX_LENGTH + SHOWN_CHARS),
      lastChars: key.slice(-SHOWN_CHARS),
      scopes,
      createdBy: actor.type === 'agent' ? actor.id : null,
      createdAt: new Date(),
      lastUsedAt: null,
      expiresAt: expiresAt ?? null,
      revokedAt: null,
    };
    await this.database.transaction(async (tx) => {
      const subject = { tenantId, actor, entity: 'api_key', entityId: entity.id };
      await this.audit.append(tx, { ...subject, action: 'api_key.created', metadata: { name, scopes } });
      await this.keys.insert(tx, entity);
    });
    return { ...toApiKeySummary(entity), key };
  }

  /** All keys of the workspace, also revoked ones, newest first. */
  async list(tenantId: string): Promise<ApiKeySummary[]> {
    return (await this.keys.list(tenantId)).map(toApiKeySummary);
  }

  /**
   * Revokes a key: every process refuses its next request. A second call changes nothing.
   * @throws AppError NOT_FOUND
   */
  async revoke(tenantId: string, id: string, actor: Actor): Promise<ApiKeySummary> {
    return this.database.transaction(async (tx) => {
      const key = await this.keys.lock(tx, tenantId, id);
      if (!key) throw AppError.notFound('API key');
      if (key.revokedAt) return toApiKeySummary(key);
      const revokedAt = new Date();
      await this.keys.revoke(tx, tenantId, id, revokedAt);
      const subject = { tenantId, actor, entity: 'api_key', entityId: id };
      await this.audit.append(tx, { ...subject, action: 'api_key.revoked', metadata: { name: key.name } });
      return toApiKeySummary({ ...key, revokedAt });
    });
  }
}
