import { Injectable } from '@nestjs/common';
import { requirePermission } from '../../access/require-permission';
import { AuditService } from '../../audit/audit.service';
import { AppError } from '../../common/app-error';
import { idFloor, newId } from '../../common/ids';
import { Actor, actorIdOf } from '../../common/principal';
import { validate } from '../../common/validate';
import { Database } from '../../database/database';
import { EndpointSubscription } from '../endpoints/subscription';
import { WebhookEndpointEntity } from '../endpoints/webhook-endpoint.entity';
import { WebhookEndpointsRepository } from '../endpoints/webhook-endpoints.repository';
import { MissedDeliveries, MissedStep } from './missed-deliveries';
import { RecoveryStarter } from './recovery-starter';
import { WebhookRecoveriesRepository } from './webhook-recoveries.repository';
import { RecoverEndpoint, toRecoverySummary, WebhookRecoverySummary } from './webhook-recovery.dto';
import { WebhookRecoveryEntity } from './webhook-recovery.entity';

/** Events of one step of the count. */
const COUNT_STEP = 5_000;
const LISTED = 20;

/** Delivers events that endpoints missed, also while they were inactive. */
@Injectable()
export class WebhookRecoveriesService {
  constructor(
    private readonly database: Database,
    private readonly endpoints: WebhookEndpointsRepository,
    private readonly recoveries: WebhookRecoveriesRepository,
    private readonly subscription: EndpointSubscription,
    private readonly missed: MissedDeliveries,
    private readonly starter: RecoveryStarter,
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
    const recovery = await this.plan(found, since, actor);
    if (dryRun) return { ...toRecoverySummary(recovery), id: null, status: 'dry_run' };
    return this.starter.start(recovery, actor, {
      permission: 'webhook_endpoint.recover',
      action: 'webhook_endpoint.recovery_started',
      metadata: { since: since.toISOString() },
    });
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

  /**
   * Lists an endpoint's latest recoveries, also those with a filter, newest first.
   * @param count 20 by default
   * @throws AppError NOT_FOUND (the endpoint)
   */
  async list(tenantId: string, endpointId: string, count = LISTED): Promise<WebhookRecoverySummary[]> {
    if (!(await this.endpoints.find(tenantId, endpointId))) throw AppError.notFound('Webhook endpoint');
    return (await this.recoveries.latest(tenantId, endpointId, count)).map(toRecoverySummary);
  }

  /**
   * Ends a running recovery, of either kind. What it has made pending is still delivered, 2,000 and a step at most. One that
   * has ended stays as it is.
   * @throws AppError FORBIDDEN, NOT_FOUND
   */
  cancel(tenantId: string, id: string, actor: Actor): Promise<WebhookRecoverySummary> {
    return this.database.transaction(async (tx) => {
      await requirePermission(tx, tenantId, actor, 'webhook_endpoint.recover');
      const recovery = await this.recoveries.lock(tx, tenantId, id);
      if (!recovery) throw AppError.notFound('Webhook recovery');
      if (recovery.status !== 'RUNNING') return toRecoverySummary(recovery);
      const cancelled: WebhookRecoveryEntity = { ...recovery, status: 'CANCELLED', finishedAt: new Date() };
      await this.recoveries.advance(tx, cancelled);
      const { endpointId, recovered } = recovery;
      this.audit.appendPipelined(tx, {
        tenantId,
        actor,
        action: 'webhook_endpoint.recovery_cancelled',
        entity: 'webhook_endpoint',
        entityId: endpointId,
        metadata: { url: await this.endpoints.urlOf(tenantId, endpointId), recoveryId: id, recovered },
      });
      return toRecoverySummary(cancelled);
    });
  }

  /** Counts what was missed, in steps, before anything is locked. */
  private async plan(
    endpoint: WebhookEndpointEntity,
    since: Date,
    actor: Actor,
  ): Promise<WebhookRecoveryEntity> {
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
      filter: null,
      since,
      until,
      status: 'RUNNING',
      total,
      isTotalComplete: true,
      recovered: 0,
      cursor: first,
      startedBy: actorIdOf(actor),
      createdAt: until,
      finishedAt: null,
    };
  }
}
