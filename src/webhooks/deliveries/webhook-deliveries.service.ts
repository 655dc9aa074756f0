import { Injectable } from '@nestjs/common';
import { requirePermission } from '../../access/require-permission';
import { AuditService } from '../../audit/audit.service';
import { AppError } from '../../common/app-error';
import { idFloor, isId } from '../../common/ids';
import { Page, toPage } from '../../common/page';
import { Actor } from '../../common/principal';
import { validate } from '../../common/validate';
import { Database } from '../../database/database';
import { WebhookEndpointsRepository } from '../endpoints/webhook-endpoints.repository';
import { DeliveryFilter, DeliveryRow, WebhookDeliveryStatus } from './delivery-filter';
import { DeliveryHistoryRepository } from './delivery-history.repository';
import { DeliverySignal } from './delivery.signal';
import { FirstAttempts } from './first-attempts';
import { PendingCancellationsRepository } from '../endpoints/pending-cancellations.repository';
import { PendingDeliveriesRepository } from './pending-deliveries.repository';
import {
  ListWebhookDeliveriesQuery,
  toAttemptDetail,
  toAttemptSummary,
  toDeliverySummary,
  WebhookAttemptDetail,
  WebhookDeliverySummary,
  WebhookEndpointHealth,
} from './webhook-delivery.dto';

const DAY_MS = 24 * 60 * 60 * 1000;

/** The deliveries to a workspace's endpoints, for the dashboard. */
@Injectable()
export class WebhookDeliveriesService {
  constructor(
    private readonly database: Database,
    private readonly endpoints: WebhookEndpointsRepository,
    private readonly pending: PendingDeliveriesRepository,
    private readonly history: DeliveryHistoryRepository,
    private readonly firstAttempts: FirstAttempts,
    private readonly cancellations: PendingCancellationsRepository,
    private readonly signal: DeliverySignal,
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
    const rows = await this.rows(tenantId, { ...filter, status: stored }, limit + 1);
    const ids = rows.slice(0, limit).map(({ id }) => id);
    const attempts = ids.length > 0 ? await this.history.attemptsOf(tenantId, ids) : [];
    return toPage(rows, limit, (delivery) => toDeliverySummary(delivery, attempts, toAttemptSummary));
  }

  /**
   * Returns one delivery with the details of its attempts.
   * @throws AppError NOT_FOUND
   */
  async get(tenantId: string, id: string): Promise<WebhookDeliverySummary<WebhookAttemptDetail>> {
    const delivery = await this.find(tenantId, id);
    if (!delivery) throw AppError.notFound('Webhook delivery');
    return toDeliverySummary(delivery, await this.history.attemptsOf(tenantId, [id]), toAttemptDetail);
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
      ...(await this.history.countByStatus(tenantId, endpointId, since)),
    ]) {
      last24Hours[status.toLowerCase() as keyof typeof last24Hours] += count;
    }
    const cancelling = await this.cancellations.progressOf(tenantId, endpointId);
    return { active, failingSince, lastSuccessAt, last24Hours, cancelling };
  }

  /**
   * Delivers an event again, before all that waits for its endpoint, with the same delivery id and the whole retry
   * schedule. A delivery that is under way for the first time is left to it.
   * @throws AppError FORBIDDEN; NOT_FOUND; INVALID_BODY: its endpoint is inactive
   */
  async redeliver(
    tenantId: string,
    id: string,
    actor: Actor,
  ): Promise<WebhookDeliverySummary<WebhookAttemptDetail>> {
    const delivery = await this.find(tenantId, id);
    if (!delivery) throw AppError.notFound('Webhook delivery');
    const { endpointId, eventId, eventType, round } = delivery;
    await this.database.transaction(async (tx) => {
      await requirePermission(tx, tenantId, actor, 'webhook_delivery.redeliver');
      const endpoint = await this.endpoints.lock(tx, tenantId, endpointId);
      if (!endpoint) throw AppError.notFound('Webhook delivery');
      if (!endpoint.active)
        throw new AppError('INVALID_BODY', 'The endpoint is inactive: activate it first.');
      // Round 0: under way for the first time.
      if (round > 0) {
        const { activation } = endpoint;
        const next = { tenantId, id, endpointId, activation, eventId, eventType, round: round + 1 };
        await this.pending.insertFirst(tx, { ...next, attemptCount: 0, recovered: false });
        tx.onCommit(() => this.signal.send({ tenantId, id: endpointId }));
      }
      this.audit.appendPipelined(tx, {
        tenantId,
        actor,
        action: 'webhook_delivery.redelivered',
        entity: 'webhook_delivery',
        entityId: id,
        metadata: { endpointId, event: eventType },
      });
    });
    return this.get(tenantId, id);
  }

  /** Of the three places in which deliveries are, newest first. One that moves meanwhile appears once. */
  private async rows(tenantId: string, filter: DeliveryFilter, count: number): Promise<DeliveryRow[]> {
    const places = [
      await this.firstAttempts.list(tenantId, filter),
      await this.pending.list(tenantId, filter, count),
      await this.history.list(tenantId, filter, count),
    ];
    const byId = new Map(places.flat().map((row) => [row.id, row]));
    return [...byId.values()].sort((a, b) => (a.id < b.id ? 1 : -1)).slice(0, count);
  }

  private async find(tenantId: string, id: string): Promise<DeliveryRow | null> {
    if (!isId(id)) return null;
    return (
      (await this.firstAttempts.find(tenantId, id)) ??
      (await this.pending.find(tenantId, id)) ??
      (await this.history.find(tenantId, id))
    );
  }
}
