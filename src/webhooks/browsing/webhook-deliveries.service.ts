import { Injectable } from '@nestjs/common';
import { AppError } from '../../common/app-error';
import { idFloor, isId } from '../../common/ids';
import { Page } from '../../common/page';
import { Actor } from '../../common/principal';
import { validate } from '../../common/validate';
import { PendingCancellationsRepository } from '../endpoints/pending-cancellations.repository';
import { WebhookEndpointsRepository } from '../endpoints/webhook-endpoints.repository';
import { AttemptRollupsRepository, AttemptTotals } from '../rollups/attempt-rollups.repository';
import { beginOf, isTimelinePeriod, TimelinePeriod, toTimeline, WebhookTimeline } from '../rollups/timeline';
import { DeliveryRow } from './delivery-filter';
import { DeliveryHistoryRepository } from '../deliveries/delivery-history.repository';
import { DeliveryRequests } from './delivery-requests';
import { DeliverySearch } from './delivery-search';
import { HistorySearchRepository } from './history-search.repository';
import { PendingSearchRepository } from './pending-search.repository';
import { Redeliverer } from './redeliverer';
import {
  ListWebhookDeliveriesQuery,
  RedeliverDeliveries,
  RedeliveryResult,
  toAttemptDetail,
  toAttemptSummary,
  toDeliverySummary,
  toFilter,
  WebhookDeliveryDetail,
  WebhookDeliverySummary,
  WebhookEndpointHealth,
} from './webhook-delivery.dto';

const DAY_MS = 24 * 60 * 60 * 1000;

/** The deliveries to a workspace's endpoints, for the dashboard. */
@Injectable()
export class WebhookDeliveriesService {
  constructor(
    private readonly endpoints: WebhookEndpointsRepository,
    private readonly search: DeliverySearch,
    private readonly history: DeliveryHistoryRepository,
    private readonly requests: DeliveryRequests,
    private readonly redeliverer: Redeliverer,
    private readonly pending: PendingSearchRepository,
    private readonly finished: HistorySearchRepository,
    private readonly cancellations: PendingCancellationsRepository,
    private readonly rollups: AttemptRollupsRepository,
  ) {}

  /**
   * Lists deliveries with their attempts, newest first. With a filter that few deliveries pass, a page may be short or even
   * empty before the last one: the next page goes on with the search, until `nextCursor` is null.
   * @throws AppError INVALID_QUERY, NOT_FOUND (the endpoint)
   */
  async list(
    tenantId: string,
    input: Partial<ListWebhookDeliveriesQuery> = {},
  ): Promise<Page<WebhookDeliverySummary>> {
    const { limit, ...query } = validate(ListWebhookDeliveriesQuery, input, 'INVALID_QUERY');
    if (query.endpointId !== undefined && !(await this.endpoints.find(tenantId, query.endpointId))) {
      throw AppError.notFound('Webhook endpoint');
    }
    const { rows, next } = await this.search.list(tenantId, toFilter(query), limit + 1);
    const page = rows.slice(0, limit);
    const ids = page.map(({ id }) => id);
    const attempts = ids.length > 0 ? await this.history.attemptsOf(tenantId, ids) : [];
    return {
      data: page.map((delivery) => toDeliverySummary(delivery, attempts, toAttemptSummary)),
      nextCursor: rows.length > limit ? ids.at(-1)! : next,
    };
  }

  /**
   * Returns one delivery with the details of its attempts, and what is sent.
   * @throws AppError NOT_FOUND
   */
  async get(tenantId: string, id: string): Promise<WebhookDeliveryDetail> {
    const delivery = await this.search.find(tenantId, id);
    if (!delivery) throw AppError.notFound('Webhook delivery');
    return this.detailOf(tenantId, delivery);
  }

  /**
   * Returns an endpoint's health.
   * @throws AppError NOT_FOUND
   */
  async health(tenantId: string, endpointId: string): Promise<WebhookEndpointHealth> {
    const endpoint = await this.endpoints.find(tenantId, endpointId);
    if (!endpoint) throw AppError.notFound('Webhook endpoint');
    const { active, failingSince, lastSuccessAt } = endpoint;
    const since = idFloor(new Date(Date.now() - DAY_MS));
    const last24Hours = { pending: 0, succeeded: 0, exhausted: 0, cancelled: 0 };
    for (const { status, count } of [
      ...(await this.pending.countByStatus(tenantId, endpointId, since)),
      ...(await this.finished.countByStatus(tenantId, endpointId, since)),
    ]) {
      last24Hours[status.toLowerCase() as keyof typeof last24Hours] += count;
    }
    const cancelling = await this.cancellations.progressOf(tenantId, endpointId);
    return { active, failingSince, lastSuccessAt, last24Hours, cancelling };
  }

  /**
   * Returns how an endpoint's attempts went over the last 24 hours (by five minutes) or 7 days (by the hour).
   * @throws AppError INVALID_QUERY (the period), NOT_FOUND
   */
  async timeline(tenantId: string, endpointId: string, period: TimelinePeriod): Promise<WebhookTimeline> {
    if (!isTimelinePeriod(period)) throw new AppError('INVALID_QUERY', 'period must be 24h or 7d.');
    if (!(await this.endpoints.find(tenantId, endpointId))) throw AppError.notFound('Webhook endpoint');
    const begin = beginOf(period, Date.now());
    return toTimeline(period, begin, await this.rollups.list(tenantId, endpointId, begin));
  }

  /**
   * Returns how many attempts of the last 24 hours succeeded and failed, for each of the endpoints, in their order. What is
   * no endpoint of the workspace has none.
   */
  async last24Hours(tenantId: string, endpointIds: string[]): Promise<AttemptTotals[]> {
    const known = endpointIds.filter(isId);
    const totals = await this.rollups.totals(tenantId, known, beginOf('24h', Date.now()));
    const byId = new Map(totals.map((one) => [one.endpointId, one]));
    return endpointIds.map((endpointId) => byId.get(endpointId) ?? { endpointId, succeeded: 0, failed: 0 });
  }

  /**
   * Delivers an event again, before all that waits for its endpoint, with the same delivery id and the whole retry
   * schedule. A delivery that is under way for the first time is left to it.
   * @returns the delivery, pending
   * @throws AppError FORBIDDEN; NOT_FOUND; INVALID_BODY: its endpoint is inactive
   */
  async redeliver(tenantId: string, id: string, actor: Actor): Promise<WebhookDeliveryDetail> {
    const delivery = await this.search.find(tenantId, id);
    if (!delivery) throw AppError.notFound('Webhook delivery');
    await this.redeliverer.redeliver(tenantId, delivery, actor);
    return this.detailOf(tenantId, { ...delivery, status: 'PENDING', nextAttemptAt: null });
  }

  /**
   * The same for up to 200 deliveries, each for itself: one that is refused holds up no other.
   * @returns a result for each id, in their order
   * @throws AppError INVALID_BODY: no id, too many, one twice; FORBIDDEN
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

  private async detailOf(tenantId: string, delivery: DeliveryRow): Promise<WebhookDeliveryDetail> {
    const attempts = await this.history.attemptsOf(tenantId, [delivery.id]);
    const at = attempts.at(-1)?.attemptedAt ?? new Date();
    const request = await this.requests.of(delivery, tenantId, at);
    return { ...toDeliverySummary(delivery, attempts, toAttemptDetail), request };
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
      return { code: error.code, message: error.message };
    }
  }
}
