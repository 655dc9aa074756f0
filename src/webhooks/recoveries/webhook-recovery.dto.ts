import { OmitType } from '@nestjs/swagger';
import { IsBoolean, IsIn, IsOptional, IsString } from 'class-validator';
import { validate } from '../../common/validate';
import { IsMoment } from '../../common/validators';
import { DeliveryFilter } from '../browsing/delivery-filter';
import { WebhookDeliveryStatus } from '../browsing/delivery-row';
import { ListWebhookDeliveriesQuery, toFilter } from '../browsing/webhook-delivery.dto';
import { StoredFilter, WebhookRecovery } from './webhook-recovery';

/** Starts a recovery of the events since a time. */
export class RecoverEndpoint {
  @IsMoment()
  since: Date;

  /** Whether the events are only counted. */
  @IsOptional()
  @IsBoolean()
  dryRun?: boolean;
}

const FINISHED = ['succeeded', 'exhausted', 'cancelled'] as const;
type FinishedStatus = (typeof FINISHED)[number];

/**
 * Filter of an endpoint's deliveries to be repeated: all that pass it, except pending ones and tests. It
 * needs one condition at least, beside the endpoint.
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

  /** Whether those that have succeeded are repeated too. Without it, only the status `succeeded` has them. */
  @IsOptional()
  @IsBoolean()
  includeSucceeded?: boolean;
}

/** Reports whether a filter has a condition beside the endpoint. */
export function hasCondition({
  endpointId: _,
  includeSucceeded: __,
  ...conditions
}: RedeliverMatching): boolean {
  return Object.values(conditions).some((condition) => condition !== undefined);
}

export class RedeliverOptions {
  /** Whether the deliveries are only counted. */
  @IsOptional()
  @IsBoolean()
  dryRun?: boolean;
}

/** Recovery and its progress. */
export interface WebhookRecoverySummary {
  /** Id of the recovery; null for a dry run. */
  id: string | null;
  endpointId: string;
  /** Kind of recovery: events that the endpoint missed since a moment, or deliveries that match a filter. */
  kind: 'missed' | 'matching';
  filter: RedeliverMatching | null;
  /** Earliest time of an event; null without such a bound. */
  since: Date | null;
  until: Date;
  /** `running` until the last delivery has ended; `cancelled` at once, while those made before go on. */
  status: 'dry_run' | 'running' | 'completed' | 'cancelled';
  /** Number of deliveries to be made. */
  total: number;
  /** Whether all deliveries were counted. Otherwise there were too many, and `total` is too low. */
  isTotalComplete: boolean;
  /** Number of deliveries made so far: the sum of the four counts below. */
  recovered: number;
  /**
   * Whether no more deliveries will be made. If the recovery is still running, its last ones are under way,
   * there is nothing to cancel, and another recovery may begin.
   */
  isAllMade: boolean;
  /**
   * Number of deliveries that are not finished. This and the next three are null for a recovery of an earlier
   * version.
   */
  pending: number | null;
  succeeded: number | null;
  /** Number of deliveries that were given up after their last attempt. */
  exhausted: number | null;
  /** Number of deliveries that were cancelled, because the endpoint was deactivated, deleted or edited. */
  cancelled: number | null;
  /** Id of an agent, `operator:<name>` or `system`; null for a recovery of an earlier version. */
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

/** Returns how many deliveries of a recovery are not finished; null if their ends are not counted. */
function pendingOf(recovery: WebhookRecovery): number | null {
  const { isSettled, recovered, succeeded, exhausted, cancelled } = recovery;
  if (succeeded === null) return null;
  return isSettled ? 0 : Math.max(0, recovered - succeeded - exhausted! - cancelled!);
}

/** Returns the deliveries that a stored filter matches, without pending ones, which are under way already. */
export function toFinishedFilter(stored: StoredFilter): DeliveryFilter {
  const { includeSucceeded, ...filter } = validate(RedeliverMatching, stored);
  const undelivered: WebhookDeliveryStatus[] = ['EXHAUSTED', 'CANCELLED'];
  return { statuses: includeSucceeded ? ['SUCCEEDED', ...undelivered] : undelivered, ...toFilter(filter) };
}
