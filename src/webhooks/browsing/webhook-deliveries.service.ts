import { Injectable } from '@nestjs/common';
import { requireReadPermission } from '../../access/require-permission';
import { AppError } from '../../common/app-error';
import { Page } from '../../common/page';
import { Actor } from '../../access/principal';
import { validate } from '../../common/validate';
import { Database } from '../../database/database';
import { WebhookEndpointsRepository } from '../endpoints/webhook-endpoints.repository';
import { DeliveryRow } from './delivery-row';
import { AttemptRow, DeliveryHistoryRepository } from '../deliveries/delivery-history.repository';
import { DeliverySearch } from './delivery-search';
import { DeliveryContents, NO_SUBJECT } from './delivery-contents';
import { Redeliverer } from '../deliveries/redeliverer';
import {
  ListWebhookDeliveriesQuery,
  RedeliverDeliveries,
  RedeliveryResult,
  toAttemptDetail,
  toAttemptSummary,
  toDeliverySummary,
  toFilter,
  WebhookAttemptDetail,
  WebhookDeliveryDetail,
  WebhookDeliverySummary,
} from './webhook-delivery.dto';

/** Lists the deliveries to a workspace's endpoints, and redelivers single ones, for the dashboard. */
@Injectable()
export class WebhookDeliveriesService {
  constructor(
    private readonly database: Database,
    private readonly endpoints: WebhookEndpointsRepository,
    private readonly search: DeliverySearch,
    private readonly history: DeliveryHistoryRepository,
    private readonly contents: DeliveryContents,
    private readonly redeliverer: Redeliverer,
  ) {}

  /**
   * Lists deliveries with their attempts and subjects, newest first. With a filter that few deliveries pass,
   * a page may be short or empty although more follow: read on until `nextCursor` is null.
   * @throws AppError INVALID_QUERY, FORBIDDEN, NOT_FOUND (the endpoint)
   */
  async list(
    tenantId: string,
    input: Partial<ListWebhookDeliveriesQuery>,
    actor: Actor,
  ): Promise<Page<WebhookDeliverySummary>> {
    const { limit, ...query } = validate(ListWebhookDeliveriesQuery, input, 'INVALID_QUERY');
    await requireReadPermission(this.database, tenantId, actor, 'webhook.read');
    if (query.endpointId !== undefined) await this.endpoints.get(tenantId, query.endpointId);
    const { rows, next } = await this.search.list(tenantId, toFilter(query), limit + 1);
    const page = rows.slice(0, limit);
    const ids = page.map(({ id }) => id);
    const attempts = ids.length > 0 ? await this.history.listAttempts(tenantId, ids) : [];
    const subjects = await this.contents.findSubjects(
      tenantId,
      page.map(({ eventId }) => eventId),
    );
    return {
      data: page.map((delivery) => {
        const subject = subjects.get(delivery.eventId) ?? NO_SUBJECT;
        return toDeliverySummary(delivery, subject, attempts, toAttemptSummary);
      }),
      nextCursor: rows.length > limit ? ids.at(-1)! : next,
    };
  }

  /**
   * Returns a delivery with its request and the details of its attempts.
   * @throws AppError FORBIDDEN, NOT_FOUND
   */
  async get(tenantId: string, id: string, actor: Actor): Promise<WebhookDeliveryDetail> {
    await requireReadPermission(this.database, tenantId, actor, 'webhook.read');
    const delivery = await this.find(tenantId, id);
    return this.readDetail(tenantId, delivery);
  }

  /**
   * Delivers an event to its endpoint again, with the same delivery id and as many attempts as the first
   * time. It goes before all deliveries that wait for the endpoint. A delivery whose first attempt is under
   * way does not change.
   * @returns the delivery, pending
   * @throws AppError FORBIDDEN; NOT_FOUND; INVALID_BODY: the endpoint is inactive, or does not receive the
   *   event type
   */
  async redeliver(tenantId: string, id: string, actor: Actor): Promise<WebhookDeliveryDetail> {
    const delivery = await this.find(tenantId, id);
    await this.redeliverer.redeliver(tenantId, delivery, actor);
    return this.readDetail(tenantId, { ...delivery, status: 'PENDING', nextAttemptAt: null });
  }

  /**
   * Makes the next attempt of a pending delivery now, before all other deliveries that wait for its endpoint.
   * The number of attempts and the waits between the attempts after it stay as they are. Nothing changes if
   * an attempt is under way, or the delivery was brought forward already.
   * @returns the delivery, pending
   * @throws AppError FORBIDDEN; NOT_FOUND; INVALID_BODY: the delivery is not pending, or the endpoint is
   *   inactive or does not receive the event type
   */
  async retryNow(tenantId: string, id: string, actor: Actor): Promise<WebhookDeliveryDetail> {
    const delivery = await this.find(tenantId, id);
    await this.redeliverer.retryNow(tenantId, delivery, actor);
    return this.readDetail(tenantId, { ...delivery, nextAttemptAt: null });
  }

  /**
   * Delivers up to 200 events again, as `redeliver` does. A refused delivery does not affect the others.
   * @returns a result for each id, in the given order
   * @throws AppError INVALID_BODY: no id, more than 200, or an id twice; FORBIDDEN
   */
  async redeliverMany(
    tenantId: string,
    input: RedeliverDeliveries,
    actor: Actor,
  ): Promise<RedeliveryResult[]> {
    const { ids } = validate(RedeliverDeliveries, input);
    await this.redeliverer.requirePermission(tenantId, actor);
    const found = await this.search.findMany(tenantId, ids);
    const results: RedeliveryResult[] = [];
    for (const id of ids)
      results.push({ id, error: await this.tryRedeliver(tenantId, found.get(id), actor) });
    return results;
  }

  private async find(tenantId: string, id: string): Promise<DeliveryRow> {
    const found = await this.search.findMany(tenantId, [id]);
    const delivery = found.get(id);
    if (!delivery) throw AppError.notFound('Webhook delivery');
    return delivery;
  }

  private async readDetail(tenantId: string, delivery: DeliveryRow): Promise<WebhookDeliveryDetail> {
    const attempts = await this.history.listAttempts(tenantId, [delivery.id]);
    const at = attempts.at(-1)?.attemptedAt ?? new Date();
    const { subject, request } = await this.contents.read(tenantId, delivery, at);
    const details = new Map<AttemptRow, WebhookAttemptDetail>();
    for (const attempt of attempts) details.set(attempt, await toAttemptDetail(attempt));
    return { ...toDeliverySummary(delivery, subject, attempts, (attempt) => details.get(attempt)!), request };
  }

  private async tryRedeliver(
    tenantId: string,
    delivery: DeliveryRow | undefined,
    actor: Actor,
  ): Promise<RedeliveryResult['error']> {
    try {
      if (!delivery) throw AppError.notFound('Webhook delivery');
      await this.redeliverer.redeliver(tenantId, delivery, actor);
      return null;
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      return { code: error.code, message: error.message, ...error.reason };
    }
  }
}
