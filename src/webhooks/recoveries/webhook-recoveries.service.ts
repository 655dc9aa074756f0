import { Injectable } from '@nestjs/common';
import { requirePermission } from '../../access/require-permission';
import { AuditService } from '../../audit/audit.service';
import { AppError } from '../../common/app-error';
import { violatesUnique } from '../../common/database-errors';
import { idFloor, newId } from '../../common/ids';
import { Actor } from '../../common/principal';
import { validate } from '../../common/validate';
import { Database } from '../../database/database';
import { Pipelined, Transaction } from '../../database/transaction';
import { EndpointSubscription } from '../endpoints/endpoint-subscription';
import { WebhookEndpointEntity } from '../endpoints/webhook-endpoint.entity';
import { WebhookEndpointsRepository } from '../endpoints/webhook-endpoints.repository';
import { MissedDeliveries, MissedStep } from './missed-deliveries';
import { WebhookRecoveriesRepository } from './webhook-recoveries.repository';
import { RecoverEndpoint, toRecoverySummary, WebhookRecoverySummary } from './webhook-recovery.dto';
import { WebhookRecoveryEntity } from './webhook-recovery.entity';

/** Events of one step of the count. */
const COUNT_STEP = 5_000;

/** Delivers events that endpoints missed, also while they were inactive. */
@Injectable()
export class WebhookRecoveriesService {
  constructor(
    private readonly database: Database,
    private readonly endpoints: WebhookEndpointsRepository,
    private readonly recoveries: WebhookRecoveriesRepository,
    private readonly subscription: EndpointSubscription,
    private readonly missed: MissedDeliveries,
    private readonly audit: AuditService,
  ) {}

  /**
   * Starts a recovery of the events since a time that an endpoint has not received: their deliveries were exhausted or
   * cancelled, or they happened while it was inactive. A worker runs it; each delivery has the whole retry schedule.
   * With `dryRun` it only counts.
   * @throws AppError FORBIDDEN; NOT_FOUND; INVALID_BODY: an inactive endpoint, a running recovery
   */
  async start(
    tenantId: string,
    endpointId: string,
    input: RecoverEndpoint,
    actor: Actor,
  ): Promise<WebhookRecoverySummary> {
    const { since, dryRun = false } = validate(RecoverEndpoint, input);
    const found = await this.endpoints.find(tenantId, endpointId);
    if (!found) throw AppError.notFound('Webhook endpoint');
    const recovery = await this.plan(found, since);
    if (dryRun) return { ...toRecoverySummary(recovery), id: null, status: 'dry_run' };
    try {
      return await this.database.transaction(async (tx) => {
        await requirePermission(tx, tenantId, actor, 'webhook_endpoint.recover');
        const endpoint = await this.endpoints.lock(tx, tenantId, endpointId);
        if (!endpoint) throw AppError.notFound('Webhook endpoint');
        if (!endpoint.active)
          throw new AppError('INVALID_BODY', 'The endpoint is inactive: activate it first.');
        await this.recoveries.insert(tx, recovery);
        this.recordPipelined(tx, endpoint, recovery, actor);
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

  /** Counts what was missed, in steps, before anything is locked. */
  private async plan(endpoint: WebhookEndpointEntity, since: Date): Promise<WebhookRecoveryEntity> {
    const { tenantId, id: endpointId, activation, activatedAt } = endpoint;
    const until = new Date();
    const types = await this.subscription.typesOf(this.database, endpoint);
    const range = { tenantId, endpointId, activation, activatedAt, before: idFloor(until), types };
    const first = idFloor(since);
    let total = 0;
    for (let after: string | null = first; after !== null;) {
      const step: MissedStep = await this.missed.step(this.database, { ...range, after }, COUNT_STEP);
      total += step.missed.length;
      after = step.next;
    }
    return {
      id: newId(),
      tenantId,
      endpointId,
      since,
      until,
      status: 'RUNNING',
      total,
      recovered: 0,
      cursor: first,
      createdAt: until,
      finishedAt: null,
    };
  }

  private recordPipelined(
    tx: Transaction,
    { tenantId, id, url }: WebhookEndpointEntity,
    { id: recoveryId, since, total }: WebhookRecoveryEntity,
    actor: Actor,
  ): Pipelined {
    return this.audit.appendPipelined(tx, {
      tenantId,
      actor,
      action: 'webhook_endpoint.recovery_started',
      entity: 'webhook_endpoint',
      entityId: id,
      metadata: { url, recoveryId, since: since.toISOString(), total },
    });
  }
}
