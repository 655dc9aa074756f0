import { Injectable } from '@nestjs/common';
import { requirePermission, requireReadPermission } from '../../access/require-permission';
import { Actor } from '../../access/principal';
import { AuditService } from '../../audit/audit.service';
import { AppError } from '../../common/app-error';
import { Database } from '../../database/database';
import { RunningClaims } from '../../queue/claims/running-claims';
import { WebhookEndpointsRepository } from '../endpoints/webhook-endpoints.repository';
import { AutomaticRecoveriesRepository } from '../endpoints/automatic-recoveries.repository';
import { AutomaticEnds } from './automatic-ends';
import { AutomaticRecoverySummary, toAutomaticSummary } from './automatic-recovery.dto';

/** Shows and ends the automatic recoveries of endpoints. Workers make their steps (`AutomaticRunner`). */
@Injectable()
export class AutomaticRecoveriesService {
  constructor(
    private readonly database: Database,
    private readonly endpoints: WebhookEndpointsRepository,
    private readonly states: AutomaticRecoveriesRepository,
    private readonly audit: AuditService,
    private readonly claims: RunningClaims,
    private readonly ends: AutomaticEnds,
  ) {}

  /**
   * Returns the automatic recovery of an endpoint; null if it has missed nothing.
   * @throws AppError FORBIDDEN, NOT_FOUND (the endpoint)
   */
  async get(tenantId: string, endpointId: string, actor: Actor): Promise<AutomaticRecoverySummary | null> {
    await requireReadPermission(this.database, tenantId, actor, 'webhook.read');
    await this.endpoints.get(tenantId, endpointId);
    const recovery = await this.states.find(this.database, tenantId, endpointId);
    return recovery && toAutomaticSummary(recovery);
  }

  /**
   * Ends the automatic recovery of an endpoint. None of its attempts begins after the answer, and events
   * until now are recovered only by a person. Events from now on are recovered as before. Without an
   * automatic recovery nothing changes.
   * @throws AppError FORBIDDEN, NOT_FOUND
   */
  async cancel(tenantId: string, endpointId: string, actor: Actor): Promise<void> {
    const isCancelled = await this.database.transaction(async (tx) => {
      await requirePermission(tx, tenantId, actor, 'webhook_endpoint.recover');
      const endpoint = await this.endpoints.lock(tx, tenantId, endpointId);
      if (!endpoint) throw AppError.notFound('Webhook endpoint');
      const recovery = await this.ends.end(tx, endpoint);
      if (!recovery) return false;
      const { since, rounds } = recovery;
      this.audit.appendPipelined(tx, {
        tenantId,
        actor,
        action: 'webhook_endpoint.recovery_cancelled',
        entity: 'webhook_endpoint',
        entityId: endpointId,
        metadata: { url: endpoint.url, automatic: true, since: since.toISOString(), rounds },
      });
      return true;
    });
    if (isCancelled) await this.claims.waitForEndpoints(tenantId, [endpointId]);
  }
}
