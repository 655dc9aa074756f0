import { Injectable } from '@nestjs/common';
import { AppError } from '../../common/app-error';
import { idFloor, newId } from '../../common/ids';
import { Actor, actorIdOf } from '../../common/principal';
import { validate } from '../../common/validate';
import { Database } from '../../database/database';
import { WebhookEndpointsRepository } from '../endpoints/webhook-endpoints.repository';
import { MatchingDeliveries, MatchingRange } from './matching-deliveries';
import { RecoveryStarter } from './recovery-starter';
import {
  RedeliverMatching,
  RedeliverOptions,
  toRecoverySummary,
  WebhookRecoverySummary,
} from './webhook-recovery.dto';
import { StoredFilter, WebhookRecoveryEntity } from './webhook-recovery.entity';

/** Deliveries of one step of the count. */
const COUNT_STEP = 2_000;
/** Then the count ends, and says so. */
const COUNT_FOR_MS = 5_000;

/** Delivers again all that a filter matches. `WebhookRecoveriesService` shows the progress, and cancels. */
@Injectable()
export class WebhookRedeliveriesService {
  constructor(
    private readonly database: Database,
    private readonly endpoints: WebhookEndpointsRepository,
    private readonly matching: MatchingDeliveries,
    private readonly starter: RecoveryStarter,
  ) {}

  /**
   * Counts the finished deliveries of an endpoint that a filter matches, and delivers them again, as a recovery: a worker
   * makes a new round of each, the newest first, and they give way to live deliveries. What happens later is not among
   * them. With `dryRun` it only counts.
   * @throws AppError FORBIDDEN; NOT_FOUND; INVALID_BODY: the filter, an inactive endpoint, a running recovery
   */
  async start(
    tenantId: string,
    input: RedeliverMatching,
    options: RedeliverOptions,
    actor: Actor,
  ): Promise<WebhookRecoverySummary> {
    const filter = validate(RedeliverMatching, input);
    const { dryRun = false } = validate(RedeliverOptions, options);
    if (!(await this.endpoints.find(tenantId, filter.endpointId)))
      throw AppError.notFound('Webhook endpoint');
    const recovery = await this.plan(tenantId, filter, actor);
    if (dryRun) return { ...toRecoverySummary(recovery), id: null, status: 'dry_run' };
    return this.starter.start(recovery, actor, {
      permission: 'webhook_delivery.redeliver',
      action: 'webhook_endpoint.redelivery_started',
      metadata: { filter: recovery.filter },
    });
  }

  private async plan(
    tenantId: string,
    filter: RedeliverMatching,
    actor: Actor,
  ): Promise<WebhookRecoveryEntity> {
    const createdAt = new Date();
    const until = filter.until && filter.until < createdAt ? filter.until : createdAt;
    const stored = JSON.parse(JSON.stringify(filter)) as StoredFilter;
    const cursor = idFloor(until);
    const { total, isTotalComplete } = await this.count({ tenantId, filter: stored, until, cursor });
    return {
      id: newId(),
      tenantId,
      endpointId: filter.endpointId,
      filter: stored,
      since: filter.since ?? null,
      until,
      status: 'RUNNING',
      total,
      isTotalComplete,
      recovered: 0,
      cursor,
      startedBy: actorIdOf(actor),
      createdAt,
      finishedAt: null,
    };
  }

  private async count(range: MatchingRange): Promise<{ total: number; isTotalComplete: boolean }> {
    const endsAt = Date.now() + COUNT_FOR_MS;
    let total = 0;
    for (let cursor: string | null = range.cursor; cursor !== null;) {
      if (Date.now() > endsAt) return { total, isTotalComplete: false };
      const from: string = cursor;
      const { matching, next } = await this.database.queueTransaction((tx) =>
        this.matching.step(tx, { ...range, cursor: from }, COUNT_STEP),
      );
      total += matching.length;
      cursor = next;
    }
    return { total, isTotalComplete: true };
  }
}
