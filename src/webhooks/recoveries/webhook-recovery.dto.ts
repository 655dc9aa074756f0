import { OmitType } from '@nestjs/swagger';
import { IsBoolean, IsIn, IsOptional, IsString } from 'class-validator';
import { validate } from '../../common/validate';
import { IsMoment } from '../../common/validators';
import { DeliveryFilter } from '../browsing/delivery-filter';
import { WebhookDeliveryStatus } from '../browsing/delivery-row';
import { ListWebhookDeliveriesQuery, toFilter } from '../browsing/webhook-delivery.dto';
import { StoredFilter, WebhookRecovery } from './webhook-recovery';

export class RecoverEndpoint {
  @IsMoment()
  since: Date;

  /** Whether the events are only counted, without a recovery. */
  @IsOptional()
  @IsBoolean()
  dryRun?: boolean;
}

const FINISHED = ['succeeded', 'exhausted', 'cancelled'] as const;
type FinishedStatus = (typeof FINISHED)[number];

/**
 * Filter of an endpoint's deliveries that are sent again. Pending deliveries and tests never pass. The filter
 * needs at least one condition beside the endpoint.
 */
export class RedeliverMatching extends OmitType(ListWebhookDeliveriesQuery, [
  'limit',
  'cursor',
  'endpointId',
  'status',
]) {
  @IsString()
  endpointId: string;

  @IsOptional()
  @IsIn(FINISHED)
  status?: FinishedStatus;

  /** Whether succeeded deliveries are sent again as well. `status` decides instead if it is given. */
  @IsOptional()
  @IsBoolean()
  includeSucceeded?: boolean;
}

export function hasCondition({
  endpointId: _,
  includeSucceeded: __,
  ...conditions
}: RedeliverMatching): boolean {
  return Object.values(conditions).some((condition) => condition !== undefined);
}

export class RedeliverOptions {
  /** Whether the deliveries are only counted, without a recovery. */
  @IsOptional()
  @IsBoolean()
  dryRun?: boolean;
}

export interface WebhookRecoverySummary {
  /** Id of the recovery; null for a dry run. */
  id: string | null;
  endpointId: string;
  /** Events that the endpoint missed since a time, or deliveries that match a filter. */
  kind: 'missed' | 'matching';
  filter: RedeliverMatching | null;
  /** Earliest time of an event; null without such a bound. */
  since: Date | null;
  until: Date;
  /**
   * `running` until the last delivery has ended. A cancelled recovery is `cancelled` at once, although its
   * pending deliveries are sent.
   */
  status: 'dry_run' | 'running' | 'completed' | 'cancelled';
  /** Number of deliveries that the recovery makes in all. */
  total: number;
  /** Whether all deliveries were counted. Otherwise there were too many, and `total` is too low. */
  isTotalComplete: boolean;
  /** Number of deliveries made so far: the sum of `pending`, `succeeded`, `exhausted` and `cancelled`. */
  recovered: number;
  /**
   * Whether no more deliveries will be made. Then the recovery can't be cancelled, and another one may begin,
   * even while the last deliveries are under way.
   */
  isAllMade: boolean;
  /**
   * Number of unfinished deliveries. `pending`, `succeeded`, `exhausted` and `cancelled` are null for a
   * recovery that an earlier version of the service made.
   */
  pending: number | null;
  succeeded: number | null;
  /** Number of deliveries that were given up after their last attempt. */
  exhausted: number | null;
  /** Number of deliveries that were cancelled, because the endpoint was deactivated, deleted or edited. */
  cancelled: number | null;
  /** Id of an agent, `operator:<name>` or `system`; null if an earlier version made the recovery. */
  startedBy: string | null;
  createdAt: Date;
  finishedAt: Date | null;
}

export function toRecoverySummary(recovery: WebhookRecovery): WebhookRecoverySummary {
  const { id, endpointId, filter, since, until, total, isTotalComplete, recovered } = recovery;
  const { startedBy, createdAt, finishedAt, succeeded, exhausted, cancelled } = recovery;
  const isSending = recovery.status === 'COMPLETED' && !recovery.isSettled;
  return {
    id,
    endpointId,
    kind: filter === null ? 'missed' : 'matching',
    filter: filter && validate(RedeliverMatching, filter),
    since,
    until,
    status: isSending ? 'running' : (recovery.status.toLowerCase() as WebhookRecoverySummary['status']),
    total,
    isTotalComplete,
    recovered,
    isAllMade: recovery.status !== 'RUNNING',
    pending: pendingOf(recovery),
    succeeded,
    exhausted,
    cancelled,
    startedBy,
    createdAt,
    finishedAt: isSending ? null : finishedAt,
  };
}

function pendingOf(recovery: WebhookRecovery): number | null {
  const { isSettled, recovered, succeeded, exhausted, cancelled } = recovery;
  if (succeeded === null) return null;
  return isSettled ? 0 : Math.max(0, recovered - succeeded - exhausted! - cancelled!);
}

/** Returns the filter by which a recovery finds its finished deliveries. */
export function toFinishedFilter(stored: StoredFilter): DeliveryFilter {
  const { includeSucceeded, ...filter } = validate(RedeliverMatching, stored);
  const undelivered: WebhookDeliveryStatus[] = ['EXHAUSTED', 'CANCELLED'];
  return { statuses: includeSucceeded ? ['SUCCEEDED', ...undelivered] : undelivered, ...toFilter(filter) };
}
