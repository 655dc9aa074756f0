import { Injectable } from '@nestjs/common';
import { AuditService } from '../../audit/audit.service';
import { AppError } from '../../common/app-error';
import { newId } from '../../common/ids';
import { Actor } from '../../common/principal';
import { Database } from '../../database/database';
import { OutboxService } from '../../outbox/outbox.service';
import { ClaimedDelivery } from './claimed-delivery';
import { DeliveryAttempter } from './delivery.attempter';
import { PendingDeliveriesRepository } from './pending-deliveries.repository';
import { WebhookTestResult } from './webhook-delivery.dto';
import { WebhookEndpointsRepository } from '../endpoints/webhook-endpoints.repository';

/** The Test button. */
@Injectable()
export class WebhookTestService {
  constructor(
    private readonly database: Database,
    private readonly endpoints: WebhookEndpointsRepository,
    private readonly deliveries: PendingDeliveriesRepository,
    private readonly attempter: DeliveryAttempter,
    private readonly outbox: OutboxService,
    private readonly audit: AuditService,
  ) {}

  /**
   * Sends a `webhook.test` event to one endpoint, whatever its subscription: one attempt, made by this process. Settles
   * when the attempt is recorded among the endpoint's deliveries.
   * @throws AppError NOT_FOUND
   */
  async test(tenantId: string, endpointId: string, actor: Actor): Promise<WebhookTestResult> {
    const delivery = await this.claim(tenantId, endpointId, actor);
    const { outcome } = await this.attempter.attempt(delivery);
    return {
      status: outcome.statusCode,
      elapsedMs: Math.round(outcome.durationMs),
      error: outcome.errorMessage,
    };
  }

  private claim(tenantId: string, endpointId: string, actor: Actor): Promise<ClaimedDelivery> {
    return this.database.transaction(async (tx) => {
      const endpoint = await this.endpoints.lock(tx, tenantId, endpointId);
      if (!endpoint) throw AppError.notFound('Webhook endpoint');
      const data = { tenantId, test: true as const };
      const eventId = newId();
      this.outbox.appendPipelined(tx, tenantId, 'webhook.test', data, { id: eventId, relayed: true });
      const delivery: ClaimedDelivery = {
        tenantId,
        id: newId(),
        endpointId,
        leaseId: newId(),
        attemptCount: 0,
        maxAttempts: 1,
        eventType: 'webhook.test',
        eventCreatedAt: new Date(),
        data: JSON.stringify(data),
        sequence: null,
        url: endpoint.url,
        secret: await this.endpoints.secretOf(tx, tenantId, endpointId),
        rateLimit: null,
        failingSince: endpoint.failingSince,
        lastSuccessAt: endpoint.lastSuccessAt,
      };
      // Throws before the insert, so that no worker sends the test later.
      this.attempter.secretOf(delivery);
      await this.deliveries.insertClaimed(tx, delivery, eventId);
      await this.audit.append(tx, {
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
