import { Injectable } from '@nestjs/common';
import { Page, toPage } from '../common/page';
import { validate } from '../common/validate';
import {
  ListWebhookDeliveriesQuery,
  toDeliverySummary,
  WebhookDeliverySummary,
} from './webhook-delivery.dto';
import { WebhookDeliveryStatus } from './webhook-delivery.entity';
import { WebhookDeliveriesRepository } from './webhook-deliveries.repository';
import { WebhookEndpointsService } from './webhook-endpoints.service';

/** What was and is owed to a workspace's endpoints, for the dashboard. */
@Injectable()
export class WebhookDeliveriesService {
  constructor(
    private readonly endpoints: WebhookEndpointsService,
    private readonly deliveries: WebhookDeliveriesRepository,
  ) {}

  /**
   * A page of an endpoint's deliveries with all their attempts, newest first.
   * @throws AppError INVALID_QUERY, NOT_FOUND (the endpoint)
   */
  async list(
    tenantId: string,
    endpointId: string,
    input: Partial<ListWebhookDeliveriesQuery> = {},
  ): Promise<Page<WebhookDeliverySummary>> {
    const { status, cursor, limit } = validate(ListWebhookDeliveriesQuery, input, 'INVALID_QUERY');
    await this.endpoints.get(tenantId, endpointId);
    const filter = { status: status?.toUpperCase() as WebhookDeliveryStatus | undefined, cursor };
    const rows = await this.deliveries.list(tenantId, endpointId, filter, limit + 1);
    const ids = rows.slice(0, limit).map(({ id }) => id);
    const attempts = ids.length > 0 ? await this.deliveries.attemptsOf(tenantId, ids) : [];
    return toPage(rows, limit, (delivery) => toDeliverySummary(delivery, attempts));
  }
}
