import { Injectable } from '@nestjs/common';
import { startByFromNow } from '../../queue/start-capacity';
import { requirePermission } from '../../access/require-permission';
import { AuditService } from '../../audit/audit.service';
import { AppError } from '../../common/app-error';
import { readFault } from '../../common/error-texts';
import { newId } from '../../common/ids';
import { Actor } from '../../common/principal';
import { Database } from '../../database/database';
import { OutboxService } from '../../outbox/outbox.service';
import { WorkBudgets } from '../../rate-limit/work-budgets';
import { WorkspacesRepository } from '../../workspaces/workspaces.repository';
import { WebhookEndpointsRepository } from '../endpoints/webhook-endpoints.repository';
import { Delivery, deliveryIdOf, NOT_ATTEMPTED } from '../deliveries/delivery';
import { DeliveryAttempter } from '../deliveries/delivery-attempter';
import { toReadable, WebhookTestResult } from './webhook-delivery.dto';

/** Tests endpoints, for the dashboard's Test button. */
@Injectable()
export class WebhookTestService {
  constructor(
    private readonly database: Database,
    private readonly endpoints: WebhookEndpointsRepository,
    private readonly workspaces: WorkspacesRepository,
    private readonly attempter: DeliveryAttempter,
    private readonly outbox: OutboxService,
    private readonly audit: AuditService,
    private readonly budgets: WorkBudgets,
  ) {}

  /**
   * Sends a `webhook.test` event to one endpoint, even one that has not subscribed to it, in one attempt of
   * this process. It resolves when the attempt is recorded among the endpoint's deliveries.
   * @throws AppError FORBIDDEN, NOT_FOUND, WORKSPACE_SUSPENDED; RATE_LIMITED, UNAVAILABLE: too many tests at
   *   once
   */
  async test(tenantId: string, endpointId: string, actor: Actor): Promise<WebhookTestResult> {
    const release = await this.budgets.acquire('tests', tenantId);
    try {
      const delivery = await this.claim(tenantId, endpointId, actor);
      this.budgets.releaseSlot();
      return await this.attempt(delivery);
    } finally {
      release();
    }
  }

  private async attempt(delivery: Delivery): Promise<WebhookTestResult> {
    const { outcome } = await this.attempter.attempt(delivery);
    if (outcome === null) throw AppError.because('UNAVAILABLE', 'test_not_sent');
    return {
      status: outcome.statusCode,
      elapsedMs: Math.round(outcome.durationMs),
      error: outcome.errorMessage,
      fault: outcome.errorMessage === null ? null : readFault(outcome.errorMessage),
      phases: outcome.phases,
      response: outcome.response && toReadable(outcome.response),
      responseHeaders: outcome.responseHeaders,
    };
  }

  private claim(tenantId: string, endpointId: string, actor: Actor): Promise<Delivery> {
    return this.database.transaction(async (tx) => {
      await requirePermission(tx, tenantId, actor, 'webhook_endpoint.test');
      const endpoint = await this.endpoints.lock(tx, tenantId, endpointId);
      if (!endpoint) throw AppError.notFound('Webhook endpoint');
      if (!(await this.workspaces.lockSending(tx, tenantId))) throw AppError.workspaceSuspended();
      const data = { tenantId, test: true as const };
      const type = 'webhook.test' as const;
      const event = {
        id: newId(),
        tenantId,
        type,
        data: JSON.stringify(data),
        sequence: null,
        createdAt: new Date(),
      };
      this.outbox.appendPipelined(tx, tenantId, type, data, { id: event.id, isQueued: false });
      const secrets = await this.endpoints.readSecrets(tx, tenantId, endpointId);
      const delivery: Delivery = {
        id: deliveryIdOf(event.id, endpointId),
        event,
        endpoint: {
          ...endpoint,
          secrets,
          answersLately: false,
          maySend: true,
          isLocked: true,
          startsAtOnce: true,
        },
        lease: null,
        ...NOT_ATTEMPTED,
        startBy: startByFromNow(),
      };
      this.audit.appendPipelined(tx, {
        tenantId,
        actor,
        action: 'webhook_endpoint.tested',
        entity: 'webhook_endpoint',
        entityId: endpointId,
        metadata: { url: endpoint.url },
      });
      return delivery;
    });
  }
}
