import { Injectable } from '@nestjs/common';
import { Permission } from '../../access/permissions';
import { requirePermission, requireReadPermission } from '../../access/require-permission';
import { AuditService } from '../../audit/audit.service';
import { AppError } from '../../common/app-error';
import { violatesUnique } from '../../database/driver/database-errors';
import { checkLimit } from '../../common/page';
import { Actor } from '../../access/principal';
import { validate } from '../../common/validate';
import { Database } from '../../database/database';
import { WebhookEndpoint } from '../endpoints/webhook-endpoint';
import { WebhookEndpointsRepository } from '../endpoints/webhook-endpoints.repository';
import { AutomaticEnds } from './automatic-ends';
import { planMatching, planMissed } from './recovery-plan';
import { RecoverySource, RecoveryStep } from './recovery-source';
import { WebhookRecoveriesRepository } from './webhook-recoveries.repository';
import {
  hasCondition,
  RecoverEndpoint,
  RedeliverMatching,
  RedeliverOptions,
  toRecoverySummary,
  WebhookRecoverySummary,
} from './webhook-recovery.dto';
import { WebhookRecovery } from './webhook-recovery';

const COUNT_STEP = 2_000;
/** Milliseconds after which a count stops, as it could read the whole history. Its total is then too low. */
const COUNT_FOR_MS = 5_000;
const LISTED = 20;

interface Start {
  permission: Permission;
  action: string;
  metadata: Record<string, unknown>;
}

/**
 * Delivers many events to an endpoint again, in the background: events that it has missed, or deliveries that
 * match a filter. An endpoint has at most one running recovery. Its recovered deliveries give way to all
 * others. `WebhookDeliveriesService` redelivers single deliveries at once.
 */
@Injectable()
export class WebhookRecoveriesService {
  constructor(
    private readonly database: Database,
    private readonly endpoints: WebhookEndpointsRepository,
    private readonly recoveries: WebhookRecoveriesRepository,
    private readonly source: RecoverySource,
    private readonly audit: AuditService,
    private readonly automatic: AutomaticEnds,
  ) {}

  /**
   * Starts a recovery of events that an endpoint has not received since a time: their deliveries were given
   * up or cancelled, or the endpoint was inactive. A time before the endpoint's creation is replaced by the
   * time of creation. A worker runs the recovery; each delivery has as many attempts as a new one. With
   * `dryRun` the events are only counted.
   * @throws AppError FORBIDDEN; NOT_FOUND; INVALID_BODY: the endpoint is inactive, or another recovery is
   *   running
   */
  async recoverMissed(
    tenantId: string,
    endpointId: string,
    input: RecoverEndpoint,
    actor: Actor,
  ): Promise<WebhookRecoverySummary> {
    const { since, dryRun } = validate(RecoverEndpoint, input);
    await this.requirePermission(tenantId, actor, 'webhook_endpoint.recover');
    const endpoint = await this.endpoints.get(tenantId, endpointId);
    const recovery = await this.countTotal(planMissed(endpoint, since, actor), endpoint);
    if (dryRun) return toDryRun(recovery);
    return this.start(recovery, actor, {
      permission: 'webhook_endpoint.recover',
      action: 'webhook_endpoint.recovery_started',
      metadata: { since: recovery.since!.toISOString() },
    });
  }

  /**
   * Starts a recovery of the finished deliveries of an endpoint that match a filter. A worker delivers each
   * of them again, newest first. It leaves out deliveries of events after this call, and of types that the
   * endpoint does not receive. Succeeded deliveries are left out unless the filter asks for them. With
   * `dryRun` the deliveries are only counted.
   * @throws AppError FORBIDDEN; NOT_FOUND; INVALID_BODY: the filter is wrong or has no condition, the
   *   endpoint is inactive, or another recovery is running
   */
  async redeliverMatching(
    tenantId: string,
    input: RedeliverMatching,
    options: RedeliverOptions,
    actor: Actor,
  ): Promise<WebhookRecoverySummary> {
    const filter = validate(RedeliverMatching, input);
    const { dryRun } = validate(RedeliverOptions, options);
    if (!hasCondition(filter)) throw AppError.invalidBody('filter', 'no_condition');
    await this.requirePermission(tenantId, actor, 'webhook_delivery.redeliver');
    const endpoint = await this.endpoints.get(tenantId, filter.endpointId);
    const recovery = await this.countTotal(planMatching(tenantId, filter, actor), endpoint);
    if (dryRun) return toDryRun(recovery);
    return this.start(recovery, actor, {
      permission: 'webhook_delivery.redeliver',
      action: 'webhook_endpoint.redelivery_started',
      metadata: { filter: recovery.filter },
    });
  }

  /**
   * Returns a recovery and its progress.
   * @throws AppError FORBIDDEN, NOT_FOUND
   */
  async get(tenantId: string, id: string, actor: Actor): Promise<WebhookRecoverySummary> {
    await requireReadPermission(this.database, tenantId, actor, 'webhook.read');
    return toRecoverySummary(await this.recoveries.get(tenantId, id));
  }

  /**
   * Lists an endpoint's latest recoveries, of both kinds, newest first.
   * @param limit 20 by default, 200 at most
   * @throws AppError INVALID_QUERY, FORBIDDEN, NOT_FOUND (the endpoint)
   */
  async list(
    tenantId: string,
    endpointId: string,
    actor: Actor,
    limit = LISTED,
  ): Promise<WebhookRecoverySummary[]> {
    checkLimit(limit);
    await requireReadPermission(this.database, tenantId, actor, 'webhook.read');
    await this.endpoints.get(tenantId, endpointId);
    return (await this.recoveries.listLatest(tenantId, endpointId, limit)).map(toRecoverySummary);
  }

  /**
   * Cancels a running recovery. Deliveries that it has made pending, at most 3,000, are sent and counted. A
   * recovery that has made all of its deliveries does not change. A round of an automatic recovery ends with
   * that recovery, and deliveries that it has made pending are not sent.
   * @throws AppError FORBIDDEN, NOT_FOUND
   */
  cancel(tenantId: string, id: string, actor: Actor): Promise<WebhookRecoverySummary> {
    return this.database.transaction(async (tx) => {
      await requirePermission(tx, tenantId, actor, 'webhook_endpoint.recover');
      const recovery = await this.recoveries.lock(tx, tenantId, id);
      if (recovery.status !== 'RUNNING') return toRecoverySummary(recovery);
      const cancelled: WebhookRecovery = { ...recovery, status: 'CANCELLED', finishedAt: new Date() };
      await this.recoveries.advance(tx, cancelled);
      const { endpointId, recovered } = recovery;
      const endpoint = recovery.automatic && (await this.endpoints.lock(tx, tenantId, endpointId));
      if (endpoint) await this.automatic.end(tx, endpoint);
      this.audit.appendPipelined(tx, {
        tenantId,
        actor,
        action: 'webhook_endpoint.recovery_cancelled',
        entity: 'webhook_endpoint',
        entityId: endpointId,
        metadata: { url: await this.endpoints.findUrl(tenantId, endpointId), recoveryId: id, recovered },
      });
      return toRecoverySummary(cancelled);
    });
  }

  /** Refuses an actor before anything is counted. The transaction that starts the recovery checks it too. */
  private requirePermission(tenantId: string, actor: Actor, permission: Permission): Promise<void> {
    return this.database.transaction((tx) => requirePermission(tx, tenantId, actor, permission));
  }

  private async countTotal(recovery: WebhookRecovery, endpoint: WebhookEndpoint): Promise<WebhookRecovery> {
    const endsAt = Date.now() + COUNT_FOR_MS;
    let total = 0;
    for (let cursor: string | null = recovery.cursor; cursor !== null;) {
      if (Date.now() > endsAt) return { ...recovery, total, isTotalComplete: false };
      const from: string = cursor;
      const step: RecoveryStep = await this.database.queueTransaction((tx) =>
        this.source.readStep(tx, recovery, endpoint, from, COUNT_STEP),
      );
      total += step.rounds.length;
      cursor = step.next;
    }
    return { ...recovery, total };
  }

  private async start(
    recovery: WebhookRecovery,
    actor: Actor,
    { permission, action, metadata }: Start,
  ): Promise<WebhookRecoverySummary> {
    const { tenantId, id: recoveryId, endpointId, total } = recovery;
    try {
      return await this.database.transaction(async (tx) => {
        await requirePermission(tx, tenantId, actor, permission);
        const endpoint = await this.endpoints.lock(tx, tenantId, endpointId);
        if (!endpoint) throw AppError.notFound('Webhook endpoint');
        if (!endpoint.active) throw AppError.because('INVALID_BODY', 'endpoint_inactive');
        await this.recoveries.insert(tx, recovery);
        await this.automatic.endStopped(tx, endpoint);
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
      throw AppError.because('INVALID_BODY', 'recovery_running');
    }
  }
}

function toDryRun(recovery: WebhookRecovery): WebhookRecoverySummary {
  return { ...toRecoverySummary(recovery), id: null, status: 'dry_run' };
}
