import { Injectable } from '@nestjs/common';
import { AuditService } from '../../audit/audit.service';
import { AppError } from '../../common/app-error';
import { Page, toPage } from '../../common/page';
import { Actor } from '../../common/principal';
import { validate } from '../../common/validate';
import { Database } from '../../database/database';
import {
  ListWebhookDeliveriesQuery,
  toAttemptDetail,
  toAttemptSummary,
  toDeliverySummary,
  WebhookAttemptDetail,
  WebhookDeliverySummary,
  WebhookEndpointHealth,
} from './webhook-delivery.dto';
import { WebhookDeliveryStatus } from './webhook-delivery.entity';
import { WebhookDeliveriesRepository } from './webhook-deliveries.repository';
import { WebhookEndpointsRepository } from '../endpoints/webhook-endpoints.repository';

const DAY_MS = 24 * 60 * 60 * 1000;

/** The deliveries to a workspace's endpoints, for the dashboard. */
@Injectable()
export class WebhookDeliveriesService {
  constructor(
    private readonly database: Database,
    private readonly endpoints: WebhookEndpointsRepository,
    private readonly deliveries: WebhookDeliveriesRepository,
    private readonly audit: AuditService,
  ) {}

  /**
   * Lists deliveries with their attempts, newest first, filtered by endpoint, event, status and time.
   * @throws AppError INVALID_QUERY, NOT_FOUND (the endpoint)
   */
  async list(
    tenantId: string,
    input: Partial<ListWebhookDeliveriesQuery> = {},
  ): Promise<Page<WebhookDeliverySummary>> {
    const { limit, status, ...filter } = validate(ListWebhookDeliveriesQuery, input, 'INVALID_QUERY');
    if (filter.endpointId !== undefined && !(await this.endpoints.find(tenantId, filter.endpointId))) {
      throw AppError.notFound('Webhook endpoint');
    }
    const stored = status?.toUpperCase() as WebhookDeliveryStatus | undefined;
    const rows = await this.deliveries.list(tenantId, { ...filter, status: stored }, limit + 1);
    const ids = rows.slice(0, limit).map(({ id }) => id);
    const attempts = ids.length > 0 ? await this.deliveries.attemptsOf(tenantId, ids) : [];
    return toPage(rows, limit, (delivery) => toDeliverySummary(delivery, attempts, toAttemptSummary));
  }

  /**
   * Returns one delivery with the details of its attempts.
   * @throws AppError NOT_FOUND
   */
  async get(tenantId: string, id: string): Promise<WebhookDeliverySummary<WebhookAttemptDetail>> {
    const delivery = await this.deliveries.find(tenantId, id);
    if (!delivery) throw AppError.notFound('Webhook delivery');
    return toDeliverySummary(
      delivery,
      await this.deliveries.attemptsWithResponses(tenantId, id),
      toAttemptDetail,
    );
  }

  /**
   * Returns an endpoint's health.
   * @throws AppError NOT_FOUND
   */
  async health(tenantId: string, endpointId: string): Promise<WebhookEndpointHealth> {
    const endpoint = await this.endpoints.find(tenantId, endpointId);
    if (!endpoint) throw AppError.notFound('Webhook endpoint');
    const { active, failingSince, lastSuccessAt } = endpoint;
    const since = new Date(Date.now() - DAY_MS);
    const last24Hours = await this.deliveries.countByStatus(tenantId, endpointId, since);
    return { active, failingSince, lastSuccessAt, last24Hours };
  }

  /**
   * Delivers an event again within seconds, whatever its status, with the same delivery id and the whole retry
   * schedule.
   * @throws AppError NOT_FOUND; INVALID_BODY: its endpoint is inactive
   */
  async redeliver(
    tenantId: string,
    id: string,
    actor: Actor,
  ): Promise<WebhookDeliverySummary<WebhookAttemptDetail>> {
    await this.database.transaction(async (tx) => {
      const delivery = await this.deliveries.find(tenantId, id);
      const endpoint = delivery && (await this.endpoints.lock(tx, tenantId, delivery.endpointId));
      if (!endpoint) throw AppError.notFound('Webhook delivery');
      if (!endpoint.active)
        throw new AppError('INVALID_BODY', 'The endpoint is inactive: activate it first.');
      await this.deliveries.reset(tx, tenantId, id);
      await this.audit.append(tx, {
        tenantId,
        actor,
        action: 'webhook_delivery.redelivered',
        entity: 'webhook_delivery',
        entityId: id,
        metadata: { endpointId: endpoint.id, event: delivery.eventType },
      });
    });
    return this.get(tenantId, id);
  }
}
