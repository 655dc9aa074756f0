import { IsIn, IsOptional } from 'class-validator';
import { PageQuery } from '../common/page';
import type { AttemptError } from './attempt-outcome';
import { WebhookAttemptEntity } from './webhook-attempt.entity';
import { WebhookDeliveryEntity } from './webhook-delivery.entity';

const STATUSES = ['pending', 'succeeded', 'exhausted', 'cancelled'] as const;
type Status = (typeof STATUSES)[number];

/** Which deliveries of an endpoint a list shows. */
export class ListWebhookDeliveriesQuery extends PageQuery {
  @IsOptional()
  @IsIn(STATUSES)
  status?: Status;
}

/** One POST that was made. */
export interface WebhookAttemptSummary {
  at: Date;
  /** The receiver's HTTP status, or null if it gave none. */
  statusCode: number | null;
  durationMs: number;
  /** The class of the failure, or null for a success. */
  error: AttemptError | null;
}

/** One event owed to one endpoint, and what was tried. */
export interface WebhookDeliverySummary {
  id: string;
  event: string;
  status: Status;
  createdAt: Date;
  /** When it is tried next; null once it is finished. */
  nextAttemptAt: Date | null;
  /** Oldest first. */
  attempts: WebhookAttemptSummary[];
}

export function toDeliverySummary(
  delivery: WebhookDeliveryEntity,
  attempts: WebhookAttemptEntity[],
): WebhookDeliverySummary {
  const { id, eventType, status, createdAt, nextAttemptAt } = delivery;
  return {
    id,
    event: eventType,
    status: status.toLowerCase() as Status,
    createdAt,
    nextAttemptAt: status === 'PENDING' ? nextAttemptAt : null,
    attempts: attempts
      .filter(({ deliveryId }) => deliveryId === id)
      .map(({ attemptedAt, statusCode, durationMs, error }) => ({
        at: attemptedAt,
        statusCode,
        durationMs,
        error,
      })),
  };
}
