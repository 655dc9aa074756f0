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
   * Number of deliveries of events of the last 24 hours, by status, and of all pending ones. Of more than
   * 10,000 finished ones `succeeded` counts attempts, and the others are at most 1,000; `pending` is at most
   * 10,000, `late` at most 1,000.
   */
  last24Hours: DeliveryCounts;
  /**
   * Number of cancelled deliveries while deliveries of former activations are being cancelled; null when that
   * is done.
   */
  cancelling: { cancelled: number } | null;
}

/** Deliveries to all endpoints of a workspace, without tests: the ones that wait, and the ones of a day. */
export interface WebhookDay {
  /** Number of deliveries that wait for an attempt; 1,001 stands for more than 1,000. */
  pending: number;
  /**
   * Number of deliveries of events of the last 24 hours that were given up, and not delivered since; of very
   * many, the newest are counted.
   */
  exhausted: number;
  /**
   * Deliveries that ended in the last 24 hours by half an hour, oldest first, without a gap. The last is not
   * over yet.
   */
  buckets: WebhookDayBucket[];
}

/** Tells how the deliveries to endpoints go, for the dashboard. Tests of endpoints do not count. */
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
   * Returns how an endpoint's attempts went over the last 24 hours (by five minutes) or 7 days (by the hour).
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
   * Returns how many deliveries arrived and were given up in the last 24 hours, for each of the endpoints, in
   * their order. The counts of an id that is no endpoint of the workspace are 0.
   * @throws AppError FORBIDDEN
   */
  async countLast24Hours(tenantId: string, endpointIds: string[], actor: Actor): Promise<DeliveryTotals[]> {
    await requireReadPermission(this.database, tenantId, actor, 'webhook.read');
    const known = endpointIds.filter(isId);
    const totals = await this.rollups.sumDeliveries(tenantId, known, beginOf('24h', Date.now()));
    const byId = new Map(totals.map((one) => [one.endpointId, one]));
    return endpointIds.map((endpointId) => byId.get(endpointId) ?? { endpointId, ...NOTHING });
  }

  /**
   * Counts the deliveries that all endpoints of a workspace are owed, and the ones that ended in the last 24
   * hours.
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
