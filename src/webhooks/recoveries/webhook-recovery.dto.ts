import { IsBoolean, IsOptional } from 'class-validator';
import { IsMoment } from '../../common/validators';
import { WebhookRecoveryEntity } from './webhook-recovery.entity';

/** Starts a recovery of the events since a time. */
export class RecoverEndpoint {
  @IsMoment()
  since: Date;

  /** Only counts the events. */
  @IsOptional()
  @IsBoolean()
  dryRun?: boolean;
}

/** A recovery and its progress. */
export interface WebhookRecoverySummary {
  /** Null for a dry run. */
  id: string | null;
  endpointId: string;
  since: Date;
  until: Date;
  status: 'dry_run' | 'running' | 'completed' | 'cancelled';
  /** Events to deliver again. */
  total: number;
  /** Deliveries made pending so far. */
  recovered: number;
  finishedAt: Date | null;
}

export function toRecoverySummary(recovery: WebhookRecoveryEntity): WebhookRecoverySummary {
  const { id, endpointId, since, until, total, recovered, finishedAt } = recovery;
  const status = recovery.status.toLowerCase() as WebhookRecoverySummary['status'];
  return { id, endpointId, since, until, status, total, recovered, finishedAt };
}
