import { Injectable } from '@nestjs/common';
import { requireReadPermission } from '../../access/require-permission';
import { AppError } from '../../common/app-error';
import { isId } from '../../common/ids';
import { Actor } from '../../access/principal';
import { Database } from '../../database/database';
import { WebhookEndpoint } from '../endpoints/webhook-endpoint';
import { WebhookEndpointsRepository } from '../endpoints/webhook-endpoints.repository';
import { AttemptRollupsRepository, DeliveryTotals } from './attempt-rollups.repository';
import { DeliveryCounts, DeliveryCountsRepository } from './delivery-counts.repository';
import { beginOf, isTimelinePeriod, TimelinePeriod, toTimeline, WebhookTimeline } from './timeline';
import { WebhookDayBucket, WebhookDayRepository } from './webhook-day.repository';

const DAY_MS = 24 * 60 * 60 * 1000;
const HALF_HOUR_MS = 30 * 60 * 1000;

const NOTHING = { succeeded: 0, late: 0, exhausted: 0 };

export interface WebhookEndpointHealth extends Pick<
  WebhookEndpoint,
  'active' | 'failingSince' | 'lastSuccessAt'
> {
  /**
   * Numbers of deliveries by status: all pending ones, and finished ones of events of the last 24 hours.
   * `pending` is at most 10,000, `late` at most 1,000. If more than 10,000 have finished, `succeeded` counts
   * attempts, and `exhausted` and `cancelled` are at most 1,000 each.
   */
  last24Hours: DeliveryCounts;
  /** Number of deliveries cancelled so far by running cancellations; null if none is running. */
  cancelling: { cancelled: number } | null;
}

/** Numbers of an endpoint's deliveries that ended in the last 24 hours. */
export interface EndpointDay extends Omit<DeliveryTotals, 'exhausted'> {
  /** Number of deliveries that were given up and not sent again since; 100 for 100 or more. */
  exhausted: number;
}

export interface WebhookDay {
  /** Number of pending deliveries; 1,001 stands for more than 1,000. */
  pending: number;
  /** Number of deliveries of the last 24 hours' events that were given up; 1,001 for more than 1,000. */
  exhausted: number;
  /** Numbers of ended deliveries for each of the last 48 half hours, oldest first. The last has not ended. */
  buckets: WebhookDayBucket[];
}

/** Counts deliveries and attempts of endpoints for the dashboard, without tests. */
@Injectable()
export class EndpointStatisticsService {
  constructor(
    private readonly database: Database,
    private readonly endpoints: WebhookEndpointsRepository,
    private readonly deliveries: DeliveryCountsRepository,
    private readonly rollups: AttemptRollupsRepository,
    private readonly days: WebhookDayRepository,
  ) {}

  /**
   * Returns an endpoint's health.
   * @throws AppError FORBIDDEN, NOT_FOUND
   */
  async getHealth(tenantId: string, endpointId: string, actor: Actor): Promise<WebhookEndpointHealth> {
    await requireReadPermission(this.database, tenantId, actor, 'webhook.read');
    const { active, failingSince, lastSuccessAt } = await this.endpoints.get(tenantId, endpointId);
    const since = new Date(Date.now() - DAY_MS);
    const last24Hours = await this.deliveries.countByStatus(tenantId, endpointId, since);
    const cancelling = await this.deliveries.getCancelling(tenantId, endpointId);
    return { active, failingSince, lastSuccessAt, last24Hours, cancelling };
  }

  /**
   * Returns an endpoint's attempts of the last 24 hours, by five minutes, or of the last 7 days, by the hour.
   * @throws AppError INVALID_QUERY (the period), FORBIDDEN, NOT_FOUND
   */
  async getTimeline(
    tenantId: string,
    endpointId: string,
    period: TimelinePeriod,
    actor: Actor,
  ): Promise<WebhookTimeline> {
    if (!isTimelinePeriod(period)) throw new AppError('INVALID_QUERY', 'period must be 24h or 7d.');
    await requireReadPermission(this.database, tenantId, actor, 'webhook.read');
    await this.endpoints.get(tenantId, endpointId);
    const begin = beginOf(period, Date.now());
    return toTimeline(period, begin, await this.rollups.list(tenantId, endpointId, begin));
  }

  /**
   * Returns how many deliveries succeeded in the last 24 hours, and how many of these hours' deliveries were
   * given up, for each endpoint in the given order. The counts of an id without an endpoint in the workspace
   * are 0.
   * @throws AppError FORBIDDEN
   */
  async countLast24Hours(tenantId: string, endpointIds: string[], actor: Actor): Promise<EndpointDay[]> {
    await requireReadPermission(this.database, tenantId, actor, 'webhook.read');
    const known = endpointIds.filter(isId);
    const now = Date.now();
    const totals = await this.rollups.sumDeliveries(tenantId, known, beginOf('24h', now));
    const failed = totals.filter(({ exhausted }) => exhausted > 0).map(({ endpointId }) => endpointId);
    const givenUp = await this.days.countGivenUp(tenantId, failed, new Date(now - DAY_MS));
    const byId = new Map(totals.map((one) => [one.endpointId, one]));
    return endpointIds.map((endpointId) => {
      const { succeeded, late } = byId.get(endpointId) ?? NOTHING;
      return { endpointId, succeeded, late, exhausted: givenUp.get(endpointId) ?? 0 };
    });
  }

  /**
   * Counts a workspace's pending deliveries, and the deliveries that ended in the last 24 hours.
   * @throws AppError FORBIDDEN
   */
  async getDay(tenantId: string, actor: Actor): Promise<WebhookDay> {
    await requireReadPermission(this.database, tenantId, actor, 'webhook.read');
    const now = Date.now();
    const begin = new Date(Math.floor(now / HALF_HOUR_MS) * HALF_HOUR_MS + HALF_HOUR_MS - DAY_MS);
    const counts = await this.days.countDeliveries(tenantId, new Date(now - DAY_MS));
    const buckets = await this.days.sumDeliveries(tenantId, begin, HALF_HOUR_MS);
    const byTime = new Map(buckets.map((bucket) => [bucket.from.getTime(), bucket]));
    return {
      ...counts,
      buckets: Array.from({ length: DAY_MS / HALF_HOUR_MS }, (_, n) => {
        const from = begin.getTime() + n * HALF_HOUR_MS;
        return byTime.get(from) ?? { from: new Date(from), ...NOTHING };
      }),
    };
  }
}
