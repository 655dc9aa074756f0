import { Injectable } from '@nestjs/common';
import { newId } from '../common/ids';
import { Actor } from '../common/principal';
import { Database, Transaction } from '../database/database';
import { OutboxService } from '../outbox/outbox.service';
import { AuditEntryEntity } from './audit-entry.entity';

/** What is to be recorded. */
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
   * Writes one entry, and its `audit.event`, in the transaction of what it records. The event is always written; the
   * webhooks drop it for workspaces that are not entitled to it.
   */
  async record(tx: Transaction, { tenantId, actor, metadata = {}, ...what }: AuditRecord): Promise<void> {
    const { action, entity, entityId } = what;
    await tx.manager.insert(AuditEntryEntity, {
      tenantId,
      id: newId(),
      action,
      entity,
      entityId,
      actorType: actor.type,
      actorId: actor.id,
      metadata: metadata as object,
      createdAt: new Date(),
    });
    const actorId = actor.id ?? actor.type;
    await this.outbox.append(tx, tenantId, 'audit.event', { action, entity, entityId, actorId, metadata });
  }

  /** A workspace's entries, newest first: at most `limit`, from below the entry `before`. */
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
