import { Injectable } from '@nestjs/common';
import { Permission } from '../../access/permissions';
import { requirePermission } from '../../access/require-permission';
import { AuditService } from '../../audit/audit.service';
import { AppError } from '../../common/app-error';
import { violatesUnique } from '../../database/database-errors';
import { Actor } from '../../common/principal';
import { Database } from '../../database/database';
import { WebhookEndpointsRepository } from '../endpoints/webhook-endpoints.repository';
import { WebhookRecoveriesRepository } from './webhook-recoveries.repository';
import { toRecoverySummary, WebhookRecoverySummary } from './webhook-recovery.dto';
import { WebhookRecoveryEntity } from './webhook-recovery.entity';

interface Start {
  permission: Permission;
  /** Of the audit entry. */
  action: string;
  metadata: Record<string, unknown>;
}

/** Gives a recovery that has been planned to the workers. */
@Injectable()
export class RecoveryStarter {
  constructor(
    private readonly database: Database,
    private readonly endpoints: WebhookEndpointsRepository,
    private readonly recoveries: WebhookRecoveriesRepository,
    private readonly audit: AuditService,
  ) {}

  /** @throws AppError FORBIDDEN; NOT_FOUND; INVALID_BODY: an inactive endpoint, a running recovery */
  async start(
    recovery: WebhookRecoveryEntity,
    actor: Actor,
    { permission, action, metadata }: Start,
  ): Promise<WebhookRecoverySummary> {
    const { tenantId, id: recoveryId, endpointId, total } = recovery;
    try {
      return await this.database.transaction(async (tx) => {
        await requirePermission(tx, tenantId, actor, permission);
        const endpoint = await this.endpoints.lock(tx, tenantId, endpointId);
        if (!endpoint) throw AppError.notFound('Webhook endpoint');
        if (!endpoint.active)
          throw new AppError('INVALID_BODY', 'The endpoint is inactive: activate it first.');
        await this.recoveries.insert(tx, recovery);
        this.audit.appendPipelined(tx, {
          tenantId,
          actor,
          action,
          entity: 'webhook_endpoint',
          entityId: endpointId,
          metadata: { url: endpoint.url, recoveryId, ...metadata, total },
        });
        return toRecoverySummary(recovery);
      });
    } catch (error) {
      if (!violatesUnique(error, 'webhook_recoveries_running_key')) throw error;
      throw new AppError('INVALID_BODY', 'A recovery of this endpoint is running already.');
    }
  }
}
