import { OmitType } from '@nestjs/swagger';
import { IsBoolean, IsIn, IsOptional, IsString } from 'class-validator';
import { validate } from '../../common/validate';
import { IsMoment } from '../../common/validators';
import { DeliveryFilter } from '../browsing/delivery-filter';
import { ListWebhookDeliveriesQuery, toFilter } from '../browsing/webhook-delivery.dto';
import { StoredFilter, WebhookRecoveryEntity } from './webhook-recovery.entity';

/** Starts a recovery of the events since a time. */
export class RecoverEndpoint {
  @IsMoment()
  since: Date;

  /** Only counts the events. */
  @IsOptional()
  @IsBoolean()
  dryRun?: boolean;
}

const FINISHED = ['succeeded', 'exhausted', 'cancelled'] as const;
type FinishedStatus = (typeof FINISHED)[number];

/** Which deliveries of an endpoint are delivered again: all that pass every filter, but for pending ones and for tests. */
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
}

export class RedeliverOptions {
  /** Only counts the deliveries. */
  @IsOptional()
  @IsBoolean()
  dryRun?: boolean;
}

/** A recovery and its progress. */
export interface WebhookRecoverySummary {
  /** Null for a dry run. */
  id: string | null;
  endpointId: string;
  /** What is delivered: what the endpoint missed since a moment, or what matches a filter. */
  kind: 'missed' | 'matching';
  filter: RedeliverMatching | null;
  /** Null without such a bound. */
  since: Date | null;
  until: Date;
  status: 'dry_run' | 'running' | 'completed' | 'cancelled';
  /** Deliveries to be made. */
  total: number;
  /** False when there were too many to count: then there are more than `total`. */
  isTotalComplete: boolean;
  /** Deliveries made pending so far. */
  recovered: number;
  /** The id of an agent, `operator:<name>` or `system`; null for a recovery of an earlier version. */
  startedBy: string | null;
  createdAt: Date;
  finishedAt: Date | null;
}

export function toRecoverySummary(recovery: WebhookRecoveryEntity): WebhookRecoverySummary {
  const { id, endpointId, filter, since, until, total, isTotalComplete, recovered } = recovery;
  const { startedBy, createdAt, finishedAt } = recovery;
  return {
    id,
    endpointId,
    kind: filter === null ? 'missed' : 'matching',
    filter: filter && validate(RedeliverMatching, filter),
    since,
    until,
    status: recovery.status.toLowerCase() as WebhookRecoverySummary['status'],
    total,
    isTotalComplete,
    recovered,
    startedBy,
    createdAt,
    finishedAt,
  };
}

/** The deliveries that a stored filter matches: pending ones are under way already. */
export function toFinishedFilter(stored: StoredFilter): DeliveryFilter {
  const filter = toFilter(validate(RedeliverMatching, stored));
  return { statuses: ['SUCCEEDED', 'EXHAUSTED', 'CANCELLED'], ...filter };
}
