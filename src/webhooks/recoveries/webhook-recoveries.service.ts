import { Injectable } from '@nestjs/common';
import { AuditService } from '../../audit/audit.service';
import { AppError } from '../../common/app-error';
import { violatesUnique } from '../../common/database-errors';
import { idFloor, newId } from '../../common/ids';
import { Actor } from '../../common/principal';
import { validate } from '../../common/validate';
import { Database } from '../../database/database';
import { Transaction } from '../../database/transaction';
import { EndpointSubscription } from '../endpoints/endpoint-subscription';
import { WebhookEndpointEntity } from '../endpoints/webhook-endpoint.entity';
import { WebhookEndpointsRepository } from '../endpoints/webhook-endpoints.repository';
import { WebhookRecoveriesRepository } from './webhook-recoveries.repository';
import { RecoverEndpoint, toRecoverySummary, WebhookRecoverySummary } from './webhook-recovery.dto';
import { WebhookRecoveryEntity } from './webhook-recovery.entity';

/** Delivers events that endpoints missed, also while they were inactive. */
@Injectable()
export class WebhookRecoveriesService {
  constructor(
    private readonly database: Database,
    private readonly endpoints: WebhookEndpointsRepository,
    private readonly recoveries: WebhookRecoveriesRepository,
    private readonly subscription: EndpointSubscription,
    private readonly audit: AuditService,
  ) {}

  /**
   * Starts a recovery of the events since a time that an endpoint has not received: their deliveries were exhausted or
   * cancelled, or they happened while it was inactive. A worker runs it; each delivery has the whole retry schedule.
   * With `dryRun` it only counts.
   * @throws AppError NOT_FOUND; INVALID_BODY: an inactive endpoint, a running recovery
   */
  async start(
    tenantId: string,
    endpointId: string,
    input: RecoverEndpoint,
    actor: Actor,
  ): Promise<WebhookRecoverySummary> {
    const { since, dryRun = false } = validate(RecoverEndpoint, input);
    try {
      return await this.database.transaction(async (tx) => {
        const endpoint = await this.endpoints.lock(tx, tenantId, endpointId);
        if (!endpoint) throw AppError.notFound('Webhook endpoint');
        if (dryRun) {
          const plan = toRecoverySummary(await this.plan(tx, endpoint, since));
          return { ...plan, id: null, status: 'dry_run' };
        }
        if (!endpoint.active)
          throw new AppError('INVALID_BODY', 'The endpoint is inactive: activate it first.');
        const recovery = await this.plan(tx, endpoint, since);
        await this.recoveries.insert(tx, recovery);
        await this.record(tx, endpoint, recovery, actor);
        return toRecoverySummary(recovery);
      });
    } catch (error) {
      if (!violatesUnique(error, 'webhook_recoveries_running_key')) throw error;
      throw new AppError('INVALID_BODY', 'A recovery of this endpoint is running already.');
    }
  }

  /**
   * Returns a recovery and its progress.
   * @throws AppError NOT_FOUND
   */
  async get(tenantId: string, id: string): Promise<WebhookRecoverySummary> {
    const recovery = await this.recoveries.find(tenantId, id);
    if (!recovery) throw AppError.notFound('Webhook recovery');
    return toRecoverySummary(recovery);
  }

  private async plan(
    tx: Transaction,
    endpoint: WebhookEndpointEntity,
    since: Date,
  ): Promise<WebhookRecoveryEntity> {
    const { tenantId, id: endpointId } = endpoint;
    const until = new Date();
    const types = await this.subscription.typesOf(tx, endpoint);
    const after = idFloor(since);
    const total = await this.recoveries.countMissed(tx, { tenantId, endpointId, after, until, types });
    return {
      id: newId(),
      tenantId,
      endpointId,
      since,
      until,
      status: 'RUNNING',
      total,
      recovered: 0,
      cursor: after,
      createdAt: until,
      finishedAt: null,
    };
  }

  private async record(
    tx: Transaction,
    { tenantId, id, url }: WebhookEndpointEntity,
    { id: recoveryId, since, total }: WebhookRecoveryEntity,
    actor: Actor,
  ): Promise<void> {
    await this.audit.append(tx, {
      tenantId,
      actor,
      action: 'webhook_endpoint.recovery_started',
      entity: 'webhook_endpoint',
      entityId: id,
      metadata: { url, recoveryId, since: since.toISOString(), total },
    });
  }
}
