import { Injectable } from '@nestjs/common';
import { AppError } from '../common/app-error';
import { isId, newId } from '../common/ids';
import { Actor } from '../common/principal';
import { Database } from '../database/database';
import { Transaction } from '../database/transaction';
import { OutboxService } from '../outbox/outbox.service';
import { AuditEntryEntity } from './audit-entry.entity';

/** An entry to record. `action` is in the past tense: `api_key.revoked`; `entity` is a type: `api_key`. */
export interface AuditRecord {
  tenantId: string;
  actor: Actor;
  action: string;
  entity: string;
  entityId: string;
  metadata?: Record<string, unknown>;
}

/** The audit log. */
@Injectable()
export class AuditService {
  constructor(
    private readonly database: Database,
    private readonly outbox: OutboxService,
  ) {}

  /**
   * Writes an entry and its `audit.event`. For actions that only the host sees, such as an agent's login. Webhooks skip
   * the event for workspaces without the `auditWebhookExport` entitlement.
   * @throws AppError INVALID_BODY when the actor is another workspace's agent; NOT_FOUND (the workspace)
   */
  record(entry: AuditRecord): Promise<void> {
    return this.database.transaction((tx) => this.append(tx, entry));
  }

  /**
   * The same in the transaction of the change that is recorded.
   * @internal
   */
  async append(tx: Transaction, record: AuditRecord): Promise<void> {
    const { tenantId, actor, action, entity, entityId, metadata = {} } = record;
    if (!isId(tenantId)) throw AppError.notFound('Workspace');
    const [entry] = await tx.query(
      `INSERT INTO audit_entries
         (tenant_id, id, action, entity, entity_id, actor_type, actor_id, metadata, created_at)
       SELECT $1::uuid, $2::uuid, $3, $4, $5, $6, $7::uuid, $8::jsonb, $9::timestamptz
       WHERE $6 <> 'agent' OR EXISTS (SELECT FROM agents WHERE tenant_id = $1::uuid AND id = $7::uuid)
       RETURNING id`,
      [
        tenantId,
        newId(),
        action,
        entity,
        entityId,
        actor.type,
        actor.id,
        JSON.stringify(metadata),
        new Date(),
      ],
    );
    if (!entry) throw AppError.invalidBody('actor', 'is not an agent of this workspace');
    const actorId = actor.id ?? actor.type;
    this.outbox.appendPipelined(tx, tenantId, 'audit.event', { action, entity, entityId, actorId, metadata });
  }

  /** A workspace's entries, newest first: at most `limit`, below the entry with the id `before`. */
  list(tenantId: string, limit: number, before?: string): Promise<AuditEntryEntity[]> {
    const query = this.database.manager
      .createQueryBuilder(AuditEntryEntity, 'entry')
      .where('entry.tenantId = :tenantId', { tenantId })
      .orderBy('entry.id', 'DESC')
      .limit(limit);
    if (before) query.andWhere('entry.id < :before', { before });
    return query.getMany();
  }
}
